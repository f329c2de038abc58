// Views and small conversations for the tests of mechanisms.
import type { JsonObject } from '../../message/json.ts'
import { foldEntries, type View } from '../../transcript/view/fold.ts'

export function viewOf(records: readonly JsonObject[]): View {
  return foldEntries(
    records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } })),
  )
}

/** Text that the documented baseline counts as this many tokens. */
export function text(tokens: number): string {
  return 'abcd'.repeat(tokens)
}
