// A result that may go, as an item of a plan.
import type { Clearable } from './clearable.ts'
import type { PlannedItem } from './mechanism.ts'

/** Written out, since a plan may have thousands: leaving one key out of a copy takes ten times as long. */
export function itemOf(
  { type, toolUseId, tool, path, uuids, message, tokens, frees }: Clearable,
  why: string,
): PlannedItem {
  return path === undefined
    ? { type, toolUseId, tool, uuids, message, tokens, frees, why }
    : { type, toolUseId, tool, path, uuids, message, tokens, frees, why }
}
