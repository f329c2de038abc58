// The agent's list of steps: read from a call of TodoWrite, and found in a session.
import {
  blocksOf,
  isObject,
  isToolResult,
  isToolUse,
  messagesOf,
  readBoundary,
  stringAt,
  type ViewMessage,
} from 'everlong/internal'
import type { Session } from 'everlong/node'
import { type Todo, todoMarks } from './render/todos.ts'

/** Undefined if the tool would refuse the input. */
export function readTodos(input: unknown): readonly Todo[] | undefined {
  const list = isObject(input) && Array.isArray(input.todos) ? input.todos : []
  const todos = list.flatMap((each: unknown) => {
    const [text, status] = [stringAt(each, 'content'), stringAt(each, 'status')]
    return text !== undefined && isStatus(status) ? [{ text: text.slice(0, 500), status }] : []
  })
  return todos.length === list.length && todos.length <= 100 ? todos : undefined
}

function isStatus(text: string | undefined): text is Todo['status'] {
  return text !== undefined && Object.hasOwn(todoMarks, text)
}

/** The current list of a session. After a compaction, the call that wrote it is only in the transcript. */
export async function todosOf(session: Pick<Session, 'messages' | 'entries'>): Promise<readonly Todo[]> {
  const messages = session.messages()
  const todos = todosIn(messages)
  if (todos || !messages.some(({ origin }) => origin === 'summary')) return todos ?? []
  const entries = [...(await session.entries())]
  const boundary = entries.findLastIndex(({ record }) => readBoundary(record) !== undefined)
  // The summary of a partial compaction has no boundary.
  return todosIn(messagesOf(boundary < 0 ? entries : entries.slice(0, boundary))) ?? []
}

/** The newest list from a successful call. */
function todosIn(messages: readonly ViewMessage[]): readonly Todo[] | undefined {
  const blocks = messages.flatMap(({ content }) => blocksOf(content))
  const failed = new Set(
    blocks.filter(isToolResult).flatMap((result) => (result.is_error === true ? [result.tool_use_id] : [])),
  )
  return blocks
    .filter(isToolUse)
    .filter(({ id, name }) => name === 'TodoWrite' && !failed.has(id))
    .map(({ input }) => readTodos(input))
    .findLast((todos) => todos !== undefined)
}
