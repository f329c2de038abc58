// A result that may go, as an item of a plan.
import type { Clearable } from '../clearable.ts'
import type { PlannedItem } from '../mechanism.ts'

export function itemOf({ kind: _, ...item }: Clearable, why: string): PlannedItem {
  return { ...item, why }
}
