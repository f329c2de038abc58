// Text that the user typed while the agent was working, and that older clients recorded only as a queue operation: the model
// saw it, but no message contains it.
import { textOf } from '../../message/block.ts'
import { stringAt } from '../../message/json.ts'
import { readBoundary } from './boundary.ts'
import type { Entry } from './entry.ts'
import { messageOf } from './messages.ts'

export type QueuedWords = {
  readonly text: string
  /** The newest message at the time it was typed. */
  readonly after?: string
}

/** Since the last compaction, oldest first, without texts that became messages. */
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
