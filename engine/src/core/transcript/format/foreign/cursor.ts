// Transcripts of Cursor's agent: `{ role, message: { content } }`, one a line, without ids, times, tool results and usage.
// The id of a record is its position in the file.

import { isObject, objectAt } from '../../../message/json.ts'
import { type Block, blocksOf, isText } from '../../../message/message.ts'
import type { RecordReader } from '../entry.ts'
import { assistantRecord, createChain, userRecord } from './chain.ts'

export function createCursorReader(): RecordReader {
  const chain = createChain()
  return (record, position) => {
    const content = objectAt(record, 'message')?.content
    if (record.role !== 'user' && record.role !== 'assistant') return [{ record, position }]
    const uuid = `cursor-${position.line}-${position.nth}`
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : blocksOf(content)
    const converted =
      record.role === 'assistant'
        ? assistantRecord({ id: uuid, content: blocks.map((block, at) => called(block, `${uuid}-${at}`)) })
        : userRecord(blocks.map(asTyped))
    return [chain.add(converted, { uuid, position })]
  }
}

function called(block: Block, id: string): Block {
  if (block.type !== 'tool_use') return block
  return { ...block, id: typeof block.id === 'string' ? block.id : id, input: isObject(block.input) ? block.input : {} }
}

const query = /^\s*<user_query>\n?([\s\S]*?)\n?<\/user_query>\s*$/

/** Cursor wraps the user's text in tags. */
function asTyped(block: Block): Block {
  const [, typed] = isText(block) ? (query.exec(block.text) ?? []) : []
  return typed === undefined ? block : { ...block, text: typed }
}
