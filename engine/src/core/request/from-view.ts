// From the view to the messages of a request: repaired, without thinking that is bound to another prefix, and with the
// provider's own summary in place of its text where the model can read it.
import { modelFacts } from '../catalog/models.ts'
import { type Block, blocksOf, isBlock, isThinking, isToolResult } from '../message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import type { ModelClient } from '../ports/model.ts'
import type { View } from '../transcript/view/fold.ts'
import { type Repaired, repairRequest } from './repair.ts'

export type RequestChoices = {
  /** An unknown model is assumed to bind thinking, which is the safe side. */
  readonly model?: string | undefined
  /** What is asked now, if the transcript does not have it yet. */
  readonly next?: readonly Message[] | undefined
}

export function requestMessages(view: View, choices: RequestChoices = {}): Repaired {
  const { model, next = [] } = choices
  const binds = model === undefined || (modelFacts(model)?.bindsThinking ?? true)
  const messages = [...view.messages, ...next].map(({ role, content }): Message => ({ role, content }))
  return repairRequest(messages, binds ? { thinking: 'strip-changed', changed: voidedIn(view, model) } : {})
}

/** Answers whose thinking is void on a model that binds it: given on another prefix, or by another model. */
function voidedIn({ messages, changed }: View, model: string | undefined): ReadonlySet<number> {
  if (model === undefined) return changed
  const named = new Set(messages.map((message) => message.model))
  const others = new Set([...named].filter((own) => own !== undefined && !isSameModel(own, model)))
  if (others.size === 0) return changed
  const foreign = messages.flatMap(({ role, model: own }, at) => (role === 'assistant' && others.has(own) ? [at] : []))
  return new Set([...changed, ...foreign])
}

/** Answers name their model more exactly than requests do: a date does not make it another one. */
function isSameModel(one: string, other: string): boolean {
  return one === other || (modelFacts(one) !== undefined && modelFacts(one) === modelFacts(other))
}

/** Whether a request continues an answer that began without thinking: there the API refuses manual thinking. */
export function continuesUnthought(messages: readonly Message[]): boolean {
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && !blocksOf(content).some(isToolResult))
  const first = firstOf(messages[asked + 1])
  return first !== undefined && !isThinking(first)
}

/** For manual thinking: drops that of answers that do not begin with it. The same array if there are none. */
export function withThinkingFirst(messages: readonly Message[]): readonly Message[] {
  const isOdd = (message: Message) => {
    const first = firstOf(message)
    return first !== undefined && !isThinking(first) && blocksOf(message.content).some(isThinking)
  }
  if (!messages.some(isOdd)) return messages
  const unthought = ({ content }: Message) => blocksOf(content).filter((block) => !isThinking(block))
  return messages.map((message) => (isOdd(message) ? { ...message, content: unthought(message) } : message))
}

function firstOf(message: Message | undefined): Block | undefined {
  return blocksOf(message?.content).find(({ type }) => type !== 'compaction')
}

/** Of the request for the provider's own compaction, and of every later one that carries its block. */
export const onDemandBeta = 'compact-2026-09-04'

/** Stored on the summary's record, beside its text. */
export type ProviderSummary = {
  readonly provider: string
  readonly model: string
  readonly block: Block
  /** Follows the block, in place of the summary's text. */
  readonly beside: string
}

/** The block stored on a summary's record, if this model can read it; every other model reads the summary as text. */
export function providerSummaryIn(
  record: JsonObject | undefined,
  client: ModelClient,
  model: string,
): ProviderSummary | undefined {
  const stored = objectAt(objectAt(record, 'everlong'), 'served')
  const [provider, by, beside] = [stringAt(stored, 'provider'), stringAt(stored, 'model'), stringAt(stored, 'beside')]
  const block = stored?.block
  if (provider === undefined || by === undefined || beside === undefined || !isBlock(block)) return undefined
  if (provider !== client.provider || !isSameModel(by, model)) return undefined
  return client.capabilities(model).compaction === 'on-demand' ? { provider, model: by, block, beside } : undefined
}
