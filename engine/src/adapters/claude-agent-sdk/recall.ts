// Recall for queries of the Claude Agent SDK: searches and reads the stored session, including originals of shortened tool
// results. Takes no lock, so it works while the session is being written.
import { isObject } from '../../core/message/json.ts'
import { defaultRecallLimit, noPosition, type SessionStore } from '../../core/ports/session-store.ts'
import { recallTool } from '../../core/session/recall-tool.ts'
import { recallIn } from '../../core/session/stored-session.ts'
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

export function agentRecallTool(store: SessionStore, key: () => AgentSessionKey | undefined): AgentRecallTool {
  const entries = async () => {
    const own = key()
    return own === undefined ? [] : entriesOf(store, own)
  }
  const { recall, read } = recallIn(entries)
  const tool = recallTool({ recall: (words, { limit = defaultRecallLimit } = {}) => recall(words, limit), read })
  return {
    name: 'recall',
    description: tool.description,
    handler: async (input) => {
      const { text, isError } =
        key() === undefined ? { text: 'The session is not known yet.', isError: true } : await tool.run(input)
      return { content: [{ type: 'text', text }], ...(isError ? { isError } : {}) }
    },
  }
}

/** Originals first, because a shortened result has the same id. */
async function entriesOf(store: SessionStore, key: AgentSessionKey): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for (const id of [storedId(originalsOf(key)), storedId(key)]) {
    for await (const { record } of store.records(id)) entries.push({ record, position: noPosition })
  }
  return entries
}

export function originalsOf({ projectKey, sessionId }: AgentSessionKey): AgentSessionKey {
  return { projectKey, sessionId, subpath: `${ownSubpath}results` }
}

/** The original of a tool result, as an entry that recall finds by the id of its call. */
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
