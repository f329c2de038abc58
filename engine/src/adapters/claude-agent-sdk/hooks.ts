// Hooks for queries of the Claude Agent SDK: they ask its own summaries to keep the important facts, restore standing rules at
// once and other missing facts with the next message, and shorten large tool results, keeping the originals.
import { isObject, stringAt } from '../../core/message/json.ts'
import { shortenedResult } from '../../core/transcript/view/effects.ts'
import type { AgentHooks, HookInput, HookOutput } from './types.ts'

export type HookParts = {
  /** Standing rules of the user, and facts that a summary lacks, as texts for the model. Empty for none. */
  readonly rulesIn: (transcript: string) => string
  readonly missingFrom: (transcript: string, compacted: { readonly summary: string; readonly given: string }) => string
  /** Stores the original of a tool result. A result that cannot be stored is not shortened. */
  readonly keep: (input: HookInput, original: unknown) => Promise<void>
  /** Maximum characters of a text in a tool result. Longer ones are shortened. */
  readonly maxResultLength: number
  /** Whether to refuse the SDK's own compactions. */
  readonly blocks: boolean
  readonly onBlocked: (sessionId: string) => void
}

const nothing: HookOutput = {}

/** The SDK adds the message of this hook to its request for a summary. */
const instructions =
  'Quote what the user wants done or not done from now on, and the latest request, word for word. Say what is finished, what is under way, what failed and how it was fixed, and the exact next step. Call nothing tested or approved unless the conversation shows it.'

export function agentHooks(parts: HookParts): AgentHooks {
  /** By session: texts that wait for the next message, and rules that the model has been given. */
  const waiting = new Map<string, string>()
  const given = new Map<string, string>()
  const deliver =
    (hookEventName: 'UserPromptSubmit' | 'PostToolBatch') =>
    async ({ session_id }: HookInput): Promise<HookOutput> => {
      const additionalContext = waiting.get(session_id)
      waiting.delete(session_id)
      return additionalContext === undefined ? nothing : { hookSpecificOutput: { hookEventName, additionalContext } }
    }
  return {
    PreCompact: hooked(async ({ session_id }) => {
      if (!parts.blocks) return { systemMessage: instructions }
      parts.onBlocked(session_id)
      return { decision: 'block', reason: 'Everlong compacts this session before it is resumed.' }
    }),
    SessionStart: hooked(async ({ session_id, transcript_path, source }) => {
      const text = source === 'compact' ? parts.rulesIn(transcript_path) : ''
      if (text === '') return nothing
      given.set(session_id, text)
      return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: text } }
    }),
    PostCompact: hooked(async (input) => {
      const { session_id, transcript_path } = input
      const compacted = { summary: stringAt(input, 'compact_summary') ?? '', given: given.get(session_id) ?? '' }
      given.delete(session_id)
      const text = parts.missingFrom(transcript_path, compacted)
      if (text !== '') waiting.set(session_id, text)
      return nothing
    }),
    UserPromptSubmit: hooked(deliver('UserPromptSubmit')),
    PostToolBatch: hooked(deliver('PostToolBatch')),
    PostToolUse: hooked(async (input) => {
      const { tool_response: original, tool_use_id: id } = input
      const updatedToolOutput = shortened(original, String(id), parts.maxResultLength)
      if (updatedToolOutput === original) return nothing
      await parts.keep(input, original)
      return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput } }
    }),
  }
}

function hooked(hook: (input: HookInput) => Promise<HookOutput>): [{ hooks: [typeof hook] }] {
  return [{ hooks: [hook] }]
}

/** The same shape with every long text shortened. Returns the same value if there is none. */
function shortened(value: unknown, id: string, keep: number): unknown {
  if (typeof value === 'string') {
    return shortenedResult({ type: 'tool_result', tool_use_id: id, content: value }, { keep, recall: true })
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => shortened(item, id, keep))
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  // Images are long and must stay whole.
  if (!isObject(value) || value.isImage === true || value.type === 'image') return value
  const fields = Object.entries(value).map(([name, own]) => [name, shortened(own, id, keep)] as const)
  return fields.some(([name, own]) => own !== value[name]) ? Object.fromEntries(fields) : value
}
