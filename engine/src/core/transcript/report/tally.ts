// Counts of a live window, with the meanings that everybody who shows them uses.
import type { Entry } from '../format/entry.ts'
import { headOf } from '../format/entry.ts'

export type Tally = {
  /** Entries with a uuid. */
  readonly entries: number
  readonly assistantLines: number
  readonly userLines: number
  /** Distinct answers of the API. */
  readonly messages: number
  readonly toolUses: number
  readonly toolResults: number
  /** Tool uses without a result, and results without their use. */
  readonly unpaired: number
}

export function tallyOf(entries: readonly Entry[]): Tally {
  const heads = entries.map(headOf)
  const uses = heads.flatMap((head) => head.toolUses)
  const results = heads.flatMap((head) => head.toolResults)
  const used = new Set(uses)
  const answered = new Set(results)
  return {
    entries: heads.filter((head) => head.uuid !== undefined).length,
    assistantLines: heads.filter((head) => head.type === 'assistant').length,
    userLines: heads.filter((head) => head.type === 'user').length,
    messages: new Set(heads.map((head) => head.messageId).filter((id) => id !== undefined)).size,
    toolUses: uses.length,
    toolResults: results.length,
    unpaired: uses.filter((id) => !answered.has(id)).length + results.filter((id) => !used.has(id)).length,
  }
}
