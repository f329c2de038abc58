// What Everlong would have left of a conversation instead of a recorded compaction, computed on request without a model.
import { type Entry, offline } from 'everlong'
import { systemPorts, textOf, type ViewMessage } from 'everlong/internal'
import {
  compactionJobAt,
  holdsWords,
  noHooks,
  plainWords,
  runCompaction,
  type Transcript,
} from 'everlong/internal/compaction'
import type { Alternative, CompactionRow } from './api.ts'
import { contextsAround, wordsBefore } from './user-words.ts'

export type AlternativeInput = {
  readonly entries: readonly Entry[]
  readonly row: CompactionRow
  readonly now: () => number
  readonly newId: () => string
}

/** `before` is the transcript before the compaction. The same as `everlong compact FILE --before UUID`. */
export async function alternativeTo(before: Transcript, input: AlternativeInput): Promise<Alternative> {
  const { now, newId, entries, row } = input
  const ports = { now, newId, model: offline(), hooks: noHooks, emit: () => undefined, wait: systemPorts.wait }
  const result = await runCompaction(compactionJobAt(before), ports, {})
  if (result.type === 'failed') return { type: 'declined', why: result.why }
  const recorded = contextsAround(entries, row)
  const words = wordsBefore(before.entries, recorded.before).map(({ text }) => text)
  const countIn = (holds: (text: string) => boolean) => words.filter(holds).length
  const own = holdsIn(result.messages)
  return {
    type: 'compacted',
    messages: result.messages.map(({ role, origin, content }) => ({ role, origin, text: textOf(content) })),
    tokensBefore: result.before,
    tokensAfter: result.after,
    words: { all: words.length, here: countIn(own), recorded: countIn((text) => recorded.after?.holds(text) ?? false) },
    restored: result.restored.pieces.map(({ title }) => title),
  }
}

function holdsIn(messages: readonly ViewMessage[]): (text: string) => boolean {
  const plain = plainWords(messages.map(({ content }) => textOf(content)).join('\n'))
  return (text) => holdsWords(plain, plainWords(text))
}
