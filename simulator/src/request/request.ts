// A messages request after its shape was checked: typed in the parts that the simulator reads, raw in all others.
import type { Block } from 'everlong'
import type { JsonObject, ModelFacts } from 'everlong/internal'
import { oncePer } from './once.ts'

export type InputRole = 'user' | 'assistant' | 'system'
export type Ttl = '5m' | '1h'

export type InputMessage = {
  readonly role: InputRole
  readonly content: readonly Block[]
  /** Index in the array of the request. */
  readonly index: number
  /** Sent as one string, so its blocks have no paths. */
  readonly isString: boolean
}

export type ThinkingSetting = {
  readonly type: 'enabled' | 'adaptive' | 'disabled' | 'between_tools'
  readonly budget_tokens?: number
  /** `omitted`: returns the signature without the text. */
  readonly display?: 'summarized' | 'omitted' | 'updates' | null
  readonly block_binding?: { readonly prefix_mismatch_behavior?: 'error' | 'drop_block' | null } | null
}

export type MessagesRequest = {
  readonly endpoint: 'create' | 'count'
  readonly model: string
  readonly facts: ModelFacts
  readonly maxTokens: number
  readonly stream: boolean
  readonly system: readonly Block[]
  readonly tools: readonly JsonObject[]
  readonly messages: readonly InputMessage[]
  readonly thinking: ThinkingSetting | undefined
  readonly stopSequences: readonly string[]
  /** The top-level mark: the last cacheable block is a breakpoint. */
  readonly automaticMark: Ttl | undefined
  readonly betas: ReadonlySet<string>
  readonly extensions: Extensions
  readonly body: JsonObject
}

/** Features outside the public API that a header turns on. */
export type Extensions = { readonly cacheEdits: boolean }

export const noExtensions: Extensions = { cacheEdits: false }

export type PlacedBlock = { readonly block: Block; readonly path: string; readonly message: InputMessage }

/** Consecutive messages of one role are one turn to the API. System messages between turns belong to none. */
export type Turn = { readonly role: 'user' | 'assistant'; readonly blocks: readonly PlacedBlock[] }

export const turnsOf = oncePer(findTurns)

function findTurns(messages: readonly InputMessage[]): readonly Turn[] {
  const turns: { role: 'user' | 'assistant'; blocks: PlacedBlock[] }[] = []
  for (const item of placedIn(messages)) {
    const { role } = item.message
    if (role === 'system') continue
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(item)
    else turns.push({ role, blocks: [item] })
  }
  return turns
}

/** Every block of a conversation with its place in it. */
export const placedIn = oncePer((messages: readonly InputMessage[]): readonly PlacedBlock[] =>
  messages.flatMap((message) =>
    message.content.map((block, at) => ({ block, path: `messages.${message.index}.content.${at}`, message })),
  ),
)

/** Thinking is on when asked for; unasked, on the models that think by themselves. */
export function thinks(request: Pick<MessagesRequest, 'thinking' | 'facts'>): boolean {
  if (request.thinking === undefined) return request.facts.thinksUnasked
  return request.thinking.type === 'enabled' || request.thinking.type === 'adaptive'
}

/** A compaction block replaces everything before it. One without content is a failed attempt and replaces nothing. */
export function isCompaction(block: Block): boolean {
  return block.type === 'compaction' && typeof block.content === 'string'
}

/** The name with which a cache edit may delete a tool result: its own, otherwise its tool use's. */
export function referenceOf(block: Block): string {
  return typeof block.cache_reference === 'string' ? block.cache_reference : String(block.tool_use_id)
}

/** Whether the text of thinking is withheld: as requested, or by the model's default. */
export function hidesThinking(request: Pick<MessagesRequest, 'thinking' | 'facts'>): boolean {
  return request.thinking?.display ? request.thinking.display === 'omitted' : request.facts.hidesThinking
}
