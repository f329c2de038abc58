// compact(messages, options), for hosts with plain messages and no session. Its code is loaded on the first call, so bundlers put
// it into a separate file.
import type { CompactMessagesOptions, CompactOutcome } from './compact-messages.ts'
import { errorText } from './core/message/json.ts'
import { noTokens } from './core/message/usage.ts'
import { failed } from './core/ports/outcome.ts'
import type { AnyMessage } from './plain-messages.ts'

/**
 * Makes a long conversation short: older messages become one summary that is checked against them, the newest may stay
 * verbatim. Takes messages of the Messages API, of chat completions, of the AI SDK (`ModelMessage`) or of LangChain, and returns
 * the same kind.
 *
 * ```ts
 * const result = await compact(messages, { model: anthropic({ model: 'claude-sonnet-5' }), keep: 6 })
 * if (result.type === 'compacted') messages = result.messages
 * ```
 */
export async function compact<M extends AnyMessage>(
  messages: readonly M[],
  options: CompactMessagesOptions = {},
): Promise<CompactOutcome<M>> {
  const code = await import('./compact-messages.ts').catch(errorText)
  if (typeof code !== 'string') return code.compactMessages(messages, options)
  const why = `Its code could not be loaded: ${code}`
  return { ...failed('no-summary', why), usage: noTokens, messages: messages as M[] }
}
