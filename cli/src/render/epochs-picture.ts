// Epochs as a picture: how far the context grew in each, and what each compaction left of it.
import { counted, cut, oneLine, padEnd, padStart, short } from '@everlong/agent/render'
import type { Epoch } from 'everlong/internal'
import type { Screen } from './screen.ts'

export function epochsPicture(epochs: readonly Epoch[], screen: Screen): readonly string[] {
  const ends = epochs.map((epoch, index) => epochs[index + 1]?.openedBy?.tokensBefore ?? epoch.tokensAtEnd ?? 0)
  const most = Math.max(1, ...ends)
  const columns = Math.max(8, Math.min(60, screen.width - 44))
  return epochs.flatMap((epoch, index) => {
    const end = ends[index] ?? 0
    const cells = Math.max(1, Math.round((end / most) * columns))
    const carried = Math.min(cells, Math.round(((epoch.openedBy?.tokensAfter ?? 0) / most) * columns))
    const picture = screen.paint('dim', '░'.repeat(carried)) + screen.paint('cyan', '█'.repeat(cells - carried))
    const words = `${counted(epoch.humanTurns, 'turn')}, ${counted(epoch.messages, 'message')}`
    const row = `  epoch ${padEnd(String(epoch.number), 2)} ${picture}${' '.repeat(columns - cells)}  ${padStart(short(end), 5)}  ${words}`
    return epoch.openedBy
      ? [screen.paint('dim', cut(`     ▼     ${compactionInWords(epoch.openedBy)}`, screen.width)), row]
      : [row]
  })
}

function compactionInWords(by: NonNullable<Epoch['openedBy']>): string {
  const how =
    by.trigger === 'auto'
      ? 'compacted by itself'
      : `compacted ${by.trigger === 'manual' ? 'by hand' : oneLine(by.trigger)}`
  const sizes =
    by.tokensBefore === undefined || by.tokensAfter === undefined
      ? []
      : [`${short(by.tokensBefore)} → ${short(by.tokensAfter)} tokens`]
  const kept = by.kept === 0 ? [] : [`${counted(by.kept, 'message')} kept`]
  return [how, ...sizes, ...kept].join(', ')
}
