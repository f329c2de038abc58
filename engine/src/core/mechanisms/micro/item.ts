// Results that may go, as items of a plan. A plan has thousands of them and is made before each request, so each is made
// once and is the very same in the next plan.

import { createBeside } from '../follow.ts'
import type { PlannedItem } from '../mechanism.ts'
import type { Weigher } from '../weigher.ts'
import type { Clearable } from './clearable.ts'

/** Which of the results go, and why. */
export type Going = { readonly results: readonly Clearable[]; readonly why: string; readonly weigher: Weigher }

/** The item for the result at this place of the list. */
export function itemsOf({ results, why, weigher }: Going): (at: number) => PlannedItem {
  const made = weigher.once(besides, weigher)(why)(results)
  return (at) => {
    const item = made[at] ?? itemOf(results[at] as Clearable, why)
    made[at] = item
    return item
  }
}

/** The first so many of them, as items. */
export function firstItems(going: Going, count: number): readonly PlannedItem[] {
  const itemAt = itemsOf(going)
  const items: PlannedItem[] = []
  for (let at = 0; at < count; at++) items.push(itemAt(at))
  return items
}

/** One list for each reason. */
function besides(): (why: string) => (results: readonly Clearable[]) => (PlannedItem | undefined)[] {
  const known = new Map<string, (results: readonly Clearable[]) => (PlannedItem | undefined)[]>()
  return (why) => {
    const beside = known.get(why) ?? createBeside()
    known.set(why, beside)
    return beside
  }
}

/** Written out, since a plan may have thousands: leaving one key out of a copy takes ten times as long. */
function itemOf({ type, toolUseId, tool, path, uuids, message, tokens, frees }: Clearable, why: string): PlannedItem {
  return path === undefined
    ? { type, toolUseId, tool, uuids, message, tokens, frees, why }
    : { type, toolUseId, tool, path, uuids, message, tokens, frees, why }
}
