// Messages of the AI SDK and of LangChain for the functions without a session: converted to ours and back. Only changed messages
// are new objects.
import { aiSdkConverter } from './adapters/ai-sdk/messages.ts'
import { type Converter, convert } from './adapters/history/converter.ts'
import { giveBack } from './adapters/history/give-back.ts'
import { langChainConverter, type MessageClasses } from './adapters/langchain/messages.ts'
import { isObject, type JsonObject } from './core/message/json.ts'
import type { Message } from './core/message/message.ts'
import { type AnthropicMessage, type ForeignKind, partTypes } from './plain-messages.ts'

export type Foreign<M> = {
  readonly plain: readonly AnthropicMessage[]
  /** Returns the given objects for unchanged messages. */
  readonly givenBack: (messages: readonly Message[]) => M[]
}

/** Throws a TypeError that says which message is wrong. */
export function readForeign<M>(
  messages: readonly M[],
  { kind, caller }: { readonly kind: ForeignKind; readonly caller: 'compact' | 'microcompact' },
): Foreign<M> {
  const given = messages as readonly unknown[] as readonly JsonObject[]
  if (kind === 'ai-sdk') checkAiSdk(given, caller)
  // Fails before a summary is paid for that could not be converted back.
  else if (caller === 'compact') classesIn(given)
  const converter = kind === 'ai-sdk' ? aiSdkConverter('bare') : langChainConverter(() => classesIn(given))
  const { head, known } = convert(converter as Converter<unknown> as Converter<M>, messages)
  return {
    plain: known.map(({ role, content }) => ({ role, content })),
    givenBack: (left) => [...head, ...giveBack(left, known, converter as never).map(({ foreign }) => foreign as M)],
  }
}

/** The class of the given messages creates the summary, so LangChain need not be loaded. Answers and results are copied. */
function classesIn(messages: readonly JsonObject[]): MessageClasses {
  const HumanMessage = messages.find(({ type }) => type === 'human')?.constructor
  if (!HumanMessage) throw new TypeError('compact(): there is no HumanMessage among the messages.')
  return { HumanMessage } as unknown as MessageClasses
}

const roles = ['system', 'user', 'assistant', 'tool']

/** A call in another shape would be read as text and lose its result. */
function checkAiSdk(messages: readonly JsonObject[], caller: string): void {
  for (const [at, message] of messages.entries()) {
    const other = partTypes(message).find((type) => type === 'tool_use' || type === 'tool_result')
    const isOther = other !== undefined || 'tool_calls' in message || 'tool_call_id' in message
    const isRead = isObject(message) && roles.includes(String(message.role)) && !isOther
    if (isRead && (typeof message.content === 'string' || Array.isArray(message.content))) continue
    throw new TypeError(
      `${caller}(): message ${at} is not a message of the AI SDK, and others are. Pass messages of one kind.`,
    )
  }
}
