// Recall for queries of the Claude Agent SDK: searches and reads what the store has of a session, also tool results that were
// shortened. It takes no lock, so it works while the session is being written.
import { isObject, stringAt } from '../../core/message/json.ts'
import type { SessionStore } from '../../core/ports/session-store.ts'
import { noPosition } from '../../core/ports/store.ts'
import { recallDescription, recalledNotice } from '../../core/prompts/recall.ts'
import { readFrom, recallFrom } from '../../core/session/recall-entries.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import { ownSubpath, storedId } from './session-store.ts'
import type { AgentEntry, AgentSessionKey, HookInput } from './types.ts'

/** For `tool(name, description, { query: z.string().optional(), read: z.string().optional() }, handler)` of the SDK. */
export type AgentRecallTool = {
  readonly name: 'recall'
  readonly description: string
  readonly handler: (input: unknown) => Promise<ToolAnswer>
}

type ToolAnswer = { content: { type: 'text'; text: string }[]; isError?: boolean }

const maxMatches = 10
/** Characters of an answer. */
const maxAnswer = 16_000

export function agentRecallTool(store: SessionStore, key: () => AgentSessionKey | undefined): AgentRecallTool {
  return {
    name: 'recall',
    description: recallDescription,
    handler: async (input) => {
      const [query, read] = [stringAt(input, 'query'), stringAt(input, 'read')]
      const own = key()
      if (own === undefined) return failed('The session is not known yet.')
      if (query === undefined && read === undefined) return failed('Give "query" to search, or "read" with an id.')
      const entries = await entriesOf(store, own)
      const text = read === undefined ? found(entries, query ?? '') : readFrom(entries, read)
      return text === undefined ? failed(`Nothing here has the id ${JSON.stringify(read)}.`) : answered(text)
    },
  }
}

/** Originals first: a shortened result has the same id. */
async function entriesOf(store: SessionStore, key: AgentSessionKey): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for (const id of [storedId(originalsOf(key)), storedId(key)]) {
    for await (const { record } of store.records(id)) entries.push({ record, position: noPosition })
  }
  return entries
}

function found(entries: readonly Entry[], query: string): string {
  const { matches, more } = recallFrom(entries, query, maxMatches)
  if (matches.length === 0) return 'Nothing was found. Try other words.'
  const cards = matches.map(
    ({ id, kind, time, snippet }) => `${id} (${[kind, time].filter(Boolean).join(', ')})\n${snippet}`,
  )
  return [...cards, ...(more ? ['There are more matches: add words, or put an exact phrase in quotes.'] : [])].join(
    '\n\n',
  )
}

function answered(text: string): ToolAnswer {
  const shown = text.length <= maxAnswer ? text : `${text.slice(0, maxAnswer).toWellFormed()}\n[…]`
  return { content: [{ type: 'text', text: `${recalledNotice}\n\n${shown}` }] }
}

function failed(text: string): ToolAnswer {
  return { content: [{ type: 'text', text }], isError: true }
}

export function originalsOf({ projectKey, sessionId }: AgentSessionKey): AgentSessionKey {
  return { projectKey, sessionId, subpath: `${ownSubpath}results` }
}

/** A tool result as it was, as an entry that recall finds by the id of its call. */
export function originalEntry(
  { session_id, tool_use_id, tool_name }: HookInput,
  original: unknown,
  now: string,
): AgentEntry {
  const content =
    isObject(original) || Array.isArray(original) ? JSON.stringify(original, undefined, 2) : String(original)
  return {
    type: 'user',
    uuid: `result-${String(tool_use_id)}`,
    timestamp: now,
    sessionId: session_id,
    toolName: tool_name,
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id, content }] },
  }
}
