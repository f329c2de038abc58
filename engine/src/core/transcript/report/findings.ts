// The problems of a transcript, in plain words, and the counts of its live window, from a scan and entries.
import { type Entry, readHead } from '../format/entry.ts'
import type { Scan } from '../tree/scan.ts'

export type Tally = {
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
  const heads = entries.map(readHead)
  const uses = heads.flatMap((head) => head.toolUses)
  const results = heads.flatMap((head) => head.toolResults)
  const used = new Set(uses)
  const answered = new Set(results)
  return {
    entries: heads.filter((head) => head.uuid !== undefined).length,
    assistantLines: heads.filter((head) => head.type === 'assistant').length,
    userLines: heads.filter((head) => head.type === 'user').length,
    messages: new Set(heads.flatMap((head) => head.messageId ?? [])).size,
    toolUses: uses.length,
    toolResults: results.length,
    unpaired: uses.filter((id) => !answered.has(id)).length + results.filter((id) => !used.has(id)).length,
  }
}

export type Finding = {
  readonly type:
    | 'several-records' // two or more records on one line
    | 'lost-text' // part of a line is not a record
    | 'torn' // the last line was cut
    | 'too-long'
    | 'duplicate' // repeats the uuid of an earlier entry
    | 'ring' // parents that lead back to themselves
    | 'orphan' // a parent that is not in the file: expected after compactions
    | 'unpaired' // a tool use in the live window without a result, or the reverse
  /** A repair fixes errors. Notes are normal for such files. */
  readonly severity: 'error' | 'note'
  readonly line: number | undefined
  readonly text: string
}

type LineTrouble = {
  readonly line: number
  readonly type: 'several-records' | 'lost-text' | 'torn' | 'too-long'
  readonly lost: number
}

export function findingsOf(
  { table, graph }: Pick<Scan, 'table' | 'graph'>,
  lines: readonly LineTrouble[],
  { unpaired }: Tally,
): readonly Finding[] {
  const line = (row: number) => table.lines[row]
  const orphan = (row: number): Finding => {
    const parent = graph.parents[row] ?? -1
    const place = parent < 0 ? 'it becomes a root' : `it is attached to line ${line(parent)}`
    const text = `hangs on ${table.pending.get(row) ?? 'another entry'}, which is not in this file; ${place}`
    return { type: 'orphan', severity: 'note', line: line(row), text }
  }
  const calls = `${unpaired} tool call${unpaired === 1 ? '' : 's'} of the live window`
  const interrupted = `${calls} without a result (interrupted, or still running)`
  return [
    ...lines.map((trouble) => error(trouble.type, trouble.line, lineText(trouble))),
    ...table.duplicates.map((row) =>
      error('duplicate', line(row), 'carries a uuid that was used before; the first one counts'),
    ),
    ...graph.cuts.map((row) => error('ring', line(row), 'is in a ring of parents; the ring is cut here')),
    ...graph.orphans.map(orphan),
    ...(unpaired === 0
      ? []
      : [{ type: 'unpaired', severity: 'note', line: undefined, text: interrupted } satisfies Finding]),
  ]
}

function error(type: Finding['type'], line: number | undefined, text: string): Finding {
  return { type, severity: 'error', line, text }
}

function lineText({ type, lost }: LineTrouble): string {
  switch (type) {
    case 'several-records':
      return 'holds more than one record; each is read'
    case 'lost-text':
      return `holds ${lost} characters that are no whole record`
    case 'torn':
      return `was cut while it was written: ${lost} characters of a record that never became whole`
    case 'too-long':
      return `has ${lost} bytes, more than can be read`
  }
}
