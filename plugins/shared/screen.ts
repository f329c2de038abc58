// Where agents show the texts of plug-ins: without colors, in lines that fit next to the agent's own words.
import type { Screen } from '@everlong/cli/screen'

export const plainScreen: Screen = {
  width: 72,
  isTerminal: false,
  isColored: false,
  timeZone: undefined,
  paint: (_, text) => text,
}
