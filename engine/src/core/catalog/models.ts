// What is known about models: windows, output limits, tokenizer families, prices, cache minimums. Data, one row
// each, matched by the longest id prefix. Figures: public documentation of August to November 2026. Nothing here is asked of
// the network; what a provider says at run time comes before this table.

export type TokenizerFamily =
  | 'claude' // up to 4.6
  | 'claude-new' // Opus 4.7, Sonnet 5 and later: about 30 % more tokens
  | 'openai'

/** Which ways of thinking a model accepts: by a budget, as it sees fit, off. */
export type ThinkingModes =
  | 'none'
  | 'budget' // up to 4.5: by a budget or off
  | 'any' // 4.6
  | 'adaptive' // from 4.7 on: as it sees fit, or off
  | 'always' // as it sees fit; cannot be switched off

/** US dollars for a million tokens. */
export type Price = { readonly input: number; readonly output: number }

export type ModelFacts = {
  readonly id: string
  readonly window: number
  readonly maxOutput: number
  readonly tokenizer: TokenizerFamily
  readonly price?: Price
  /** Another price for every token of a request whose prompt is longer than this. */
  readonly longPrompt?: { readonly above: number; readonly price: Price }
  /** The shortest prefix that is cached at all. */
  readonly cacheMinimum: number
  /** Thinking signatures are bound to the exact prefix: an earlier edit invalidates every later thinking block. */
  readonly bindsThinking: boolean
  readonly thinking: ThinkingModes
  /** Thinks also when the request does not mention thinking. */
  readonly thinksUnasked: boolean
  /** Thinking blocks come back without their text unless it is asked for; the tokens count all the same. */
  readonly hidesThinking: boolean
  /** What leaving `effort` out means. */
  readonly defaultEffort: 'medium' | 'high'
  /** Thinking of earlier turns stays in the context; otherwise only that of the last turn counts. */
  readonly keepsThinking: boolean
  /** Output that meets the window ends there with 200; earlier models refuse input + max_tokens over the window. */
  readonly endsAtWindow: boolean
  /** A conversation may end with a partial assistant message, which the answer continues. */
  readonly takesPrefill: boolean
  /** Messages of role `system` may stand in the middle of a conversation (from Opus 4.8 on, not Sonnet 5). */
  readonly takesSystemMessages: boolean
  /** Summarises on the server, at most: when a threshold is passed (from 4.6 on), also on demand (without Haiku). */
  readonly compaction: 'none' | 'by-threshold' | 'on-demand'
}

type Row = Omit<ModelFacts, 'bindsThinking' | 'cacheMinimum'> & Partial<ModelFacts>

/** From Fable 5.1 on, thinking is always on and belongs to its conversation. */
const bound = { window: 1_000_000, bindsThinking: true, thinking: 'always' } as const
const before5 = { thinksUnasked: false } as const
const before48 = { ...before5, takesSystemMessages: false } as const
const before47 = { ...before48, thinking: 'any', hidesThinking: false, tokenizer: 'claude' } as const
const before45 = {
  ...before47,
  keepsThinking: false,
  endsAtWindow: false,
  takesPrefill: true,
  thinking: 'budget',
  maxOutput: 64_000,
  compaction: 'none',
} as const

const rows: readonly Row[] = [
  claude('claude-fable-5-2', { ...bound, price: { input: 10, output: 50 }, cacheMinimum: 512 }),
  claude('claude-fable-5-1', { ...bound, price: { input: 10, output: 50 }, cacheMinimum: 512 }),
  claude('claude-mythos-5-2', { ...bound, price: { input: 10, output: 50 }, cacheMinimum: 512 }),
  claude('claude-opus-5-5', {
    ...bound,
    price: { input: 4, output: 20 },
    cacheMinimum: 512,
    defaultEffort: 'medium',
  }),
  claude('claude-sonnet-5-5', { ...bound, price: { input: 2, output: 10 }, cacheMinimum: 1_024 }),
  claude('claude-haiku-5-5', {
    window: 1_000_000,
    price: { input: 0.1, output: 0.5 },
    longPrompt: { above: 100_000, price: { input: 0.5, output: 2.5 } },
    cacheMinimum: 1_024,
    defaultEffort: 'medium',
  }),
  claude('claude-fable-5', {
    window: 1_000_000,
    price: { input: 10, output: 50 },
    cacheMinimum: 512,
    thinking: 'always',
  }),
  claude('claude-mythos-5', {
    window: 1_000_000,
    price: { input: 10, output: 50 },
    cacheMinimum: 512,
    thinking: 'always',
  }),
  claude('claude-opus-5', { window: 1_000_000, price: { input: 5, output: 25 }, cacheMinimum: 512 }),
  claude('claude-sonnet-5', {
    window: 1_000_000,
    price: { input: 2, output: 10 },
    cacheMinimum: 1_024,
    takesSystemMessages: false,
  }),
  claude('claude-opus-4-8', { ...before5, window: 1_000_000, price: { input: 5, output: 25 }, cacheMinimum: 1_024 }),
  claude('claude-opus-4-7', { ...before48, window: 1_000_000, price: { input: 5, output: 25 }, cacheMinimum: 2_048 }),
  claude('claude-opus-4-6', {
    ...before47,
    window: 1_000_000,
    price: { input: 5, output: 25 },
    cacheMinimum: 4_096,
  }),
  claude('claude-sonnet-4-6', {
    ...before47,
    window: 1_000_000,
    price: { input: 3, output: 15 },
    cacheMinimum: 1_024,
  }),
  claude('claude-opus-4-5', {
    ...before45,
    price: { input: 5, output: 25 },
    cacheMinimum: 4_096,
    keepsThinking: true,
    endsAtWindow: true,
  }),
  claude('claude-sonnet-4-5', {
    ...before45,
    price: { input: 3, output: 15 },
    cacheMinimum: 1_024,
    endsAtWindow: true,
  }),
  claude('claude-haiku-4-5', { ...before45, price: { input: 1, output: 5 }, cacheMinimum: 4_096, endsAtWindow: true }),
  claude('claude-opus-4', { ...before45, price: { input: 15, output: 75 }, maxOutput: 32_000 }),
  claude('claude-sonnet-4', { ...before45, price: { input: 3, output: 15 } }),
  claude('claude-3-7-sonnet', { ...before45, price: { input: 3, output: 15 } }),
  claude('claude-3-5-haiku', {
    ...before45,
    thinking: 'none',
    price: { input: 0.8, output: 4 },
    maxOutput: 8_192,
    cacheMinimum: 2_048,
  }),
  claude('claude-3-opus', { ...before45, thinking: 'none', price: { input: 15, output: 75 }, maxOutput: 4_096 }),
]

function claude(id: string, facts: Partial<ModelFacts>): Row {
  return {
    id,
    window: 200_000,
    maxOutput: 128_000,
    tokenizer: 'claude-new',
    thinking: 'adaptive',
    thinksUnasked: true,
    hidesThinking: true,
    defaultEffort: 'high',
    keepsThinking: true,
    endsAtWindow: true,
    takesPrefill: false,
    takesSystemMessages: true,
    compaction: id.includes('haiku') ? 'by-threshold' : 'on-demand',
    ...facts,
  }
}

const longestFirst: readonly ModelFacts[] = rows
  .map((row) => ({ cacheMinimum: 1_024, bindsThinking: false, ...row }))
  .toSorted((a, b) => b.id.length - a.id.length)

/** The row whose id is the longest prefix of this model id (dates and provider prefixes allowed), if any. */
export function modelFacts(model: string): ModelFacts | undefined {
  const id = model.toLowerCase().replace(/^.*[/.](?=claude)/, '')
  return longestFirst.find((row) => id.startsWith(row.id))
}

/** Images and document pages that one request may hold; a model that nobody knows gets the smaller number. */
export function mediaLimit(facts: Pick<ModelFacts, 'window'> | undefined): number {
  return facts !== undefined && facts.window >= 1_000_000 ? 600 : 100
}

/** Every model in the table, for those who must list them. */
export function knownModels(): readonly ModelFacts[] {
  return longestFirst
}

/** What a model costs for a prompt of so many tokens, if its price is known. */
export function priceOf(facts: ModelFacts, promptTokens: number): Price | undefined {
  const { longPrompt } = facts
  return longPrompt !== undefined && promptTokens > longPrompt.above ? longPrompt.price : facts.price
}

/** Multiples of the input price, until told otherwise. */
export const cachePrices = { read: 0.1, write: 1.25, writeHour: 2 } as const
