// Whether a pin or its removal would change anything.
import type { Edit } from '../format/edits.ts'
import type { View } from './fold.ts'

/** Why the edit changes nothing; undefined if it does, or if it is not about pins. */
export function pinProblem({ pins }: Pick<View, 'pins'>, edit: Edit): string | undefined {
  if (edit.type === 'pin' && pins.includes(edit.uuid)) return `The entry ${edit.uuid} is pinned already.`
  if (edit.type === 'unpin' && !pins.includes(edit.uuid)) return `The entry ${edit.uuid} is not pinned.`
  return undefined
}
