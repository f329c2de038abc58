// What the user typed while the agent was working and what older clients recorded only as an operation on their queue: the
// model saw it, but no message has it.
import { textOf } from '../../message/block.ts'
import { stringAt } from '../../message/json.ts'
import { readBoundary } from './boundary.ts'
import type { Entry } from './entry.ts'
import { messageOf } from './messages.ts'

export type QueuedWords = {
  readonly text: string
  /** The newest message that was there when it was typed. */
  readonly after?: string
}

/** Since the last compaction, oldest first. What became a message of its own is left out. */
export function queuedWords(entries: readonly Entry[]): readonly QueuedWords[] {
  const start = entries.findLastIndex(({ record }) => readBoundary(record) !== undefined) + 1
  const recent = entries.slice(start)
  let after: string | undefined
  const queued = recent.flatMap(({ record }): readonly QueuedWords[] => {
    if (record.type === 'user' || record.type === 'assistant') after = stringAt(record, 'uuid') ?? after
    if (record.type !== 'queue-operation' || record.operation !== 'enqueue') return []
    const text = stringAt(record, 'content')?.trim() ?? ''
    return text === '' ? [] : [{ text, ...(after === undefined ? {} : { after }) }]
  })
  if (queued.length === 0) return []
  const said = new Set(
    recent.flatMap(({ record }) => {
      const message = record.type === 'user' || record.type === 'attachment' ? messageOf(record) : undefined
      return message?.origin === 'human' ? [textOf(message.content).trim()] : []
    }),
  )
  return queued.filter(({ text }) => !said.has(text))
}
