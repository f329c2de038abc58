// Facts about models, one row each, from public documentation of August to November 2026. Values that a provider reports at run
// time have priority.

export type TokenizerFamily =
  | 'claude' // up to 4.6
  | 'claude-new' // Opus 4.7, Sonnet 5 and later: about 30 % more tokens
  | 'openai'

export type ThinkingModes =
  | 'none'
  | 'budget' // up to 4.5: with a budget, or off
  | 'any' // 4.6
  | 'adaptive' // 4.7 and later: adaptive, or off
  | 'always' // adaptive, cannot be switched off

/** US dollars per million tokens. */
export type Price = { readonly input: number; readonly output: number }

export type ModelFacts = {
  readonly id: string
  readonly window: number
  readonly maxOutput: number
  readonly tokenizer: TokenizerFamily
  readonly price?: Price
  /** The price of all tokens of a request whose prompt is longer. */
  readonly longPrompt?: { readonly above: number; readonly price: Price }
  /** Shorter prefixes are not cached. */
  readonly cacheMinimum: number
  /** Thinking signatures are bound to the exact prefix: an earlier edit invalidates every later thinking block. */
  readonly bindsThinking: boolean
  readonly thinking: ThinkingModes
  /** Thinks even if the request does not mention thinking. */
  readonly thinksUnasked: boolean
  /** Returns thinking blocks without text unless asked. Their tokens still count. */
  readonly hidesThinking: boolean
  readonly defaultEffort: 'medium' | 'high'
  /** Keeps the thinking of all earlier turns in the context, not only of the last one. */
  readonly keepsThinking: boolean
  /** Output stops at the window with status 200. Earlier models refuse a request whose input + max_tokens exceed the window. */
  readonly endsAtWindow: boolean
  /** A conversation may end with the start of an answer, which the model continues. */
  readonly takesPrefill: boolean
  /** Accepts `system` messages in the middle of a conversation (Opus 4.8 and later, not Sonnet 5). */
  readonly takesSystemMessages: boolean
  /** Server-side summarization: at a threshold (4.6 and later), or also on demand (not Haiku). */
  readonly compaction: 'none' | 'by-threshold' | 'on-demand'
}

/** From Fable 5.1 on, thinking is always on and bound to its conversation. */
const bound = { bindsThinking: true, thinking: 'always' } as const
const before5 = { thinksUnasked: false } as const
const before48 = { ...before5, takesSystemMessages: false } as const
const before47 = { ...before48, thinking: 'any', hidesThinking: false, tokenizer: 'claude' } as const
const before45 = {
  ...before47,
  window: 200_000,
  keepsThinking: false,
  endsAtWindow: false,
  takesPrefill: true,
  thinking: 'budget',
  maxOutput: 64_000,
  compaction: 'none',
} as const

/** Newest first. */
const rows: readonly ModelFacts[] = [
  claude('claude-fable-5-2', [10, 50], { ...bound, cacheMinimum: 512 }),
  claude('claude-fable-5-1', [10, 50], { ...bound, cacheMinimum: 512 }),
  claude('claude-mythos-5-2', [10, 50], { ...bound, cacheMinimum: 512 }),
  claude('claude-opus-5-5', [4, 20], { ...bound, cacheMinimum: 512, defaultEffort: 'medium' }),
  claude('claude-sonnet-5-5', [2, 10], bound),
  claude('claude-haiku-5-5', [0.1, 0.5], {
    longPrompt: { above: 100_000, price: { input: 0.5, output: 2.5 } },
    defaultEffort: 'medium',
  }),
  claude('claude-fable-5', [10, 50], { cacheMinimum: 512, thinking: 'always' }),
  claude('claude-mythos-5', [10, 50], { cacheMinimum: 512, thinking: 'always' }),
  claude('claude-opus-5', [5, 25], { cacheMinimum: 512 }),
  claude('claude-sonnet-5', [2, 10], { takesSystemMessages: false }),
  claude('claude-opus-4-8', [5, 25], before5),
  claude('claude-opus-4-7', [5, 25], { ...before48, cacheMinimum: 2_048 }),
  claude('claude-opus-4-6', [5, 25], { ...before47, cacheMinimum: 4_096 }),
  claude('claude-sonnet-4-6', [3, 15], before47),
  claude('claude-opus-4-5', [5, 25], { ...before45, cacheMinimum: 4_096, keepsThinking: true, endsAtWindow: true }),
  claude('claude-sonnet-4-5', [3, 15], { ...before45, endsAtWindow: true }),
  claude('claude-haiku-4-5', [1, 5], { ...before45, cacheMinimum: 4_096, endsAtWindow: true }),
  claude('claude-opus-4', [15, 75], { ...before45, maxOutput: 32_000 }),
  claude('claude-sonnet-4', [3, 15], before45),
  claude('claude-3-7-sonnet', [3, 15], before45),
  claude('claude-3-5-haiku', [0.8, 4], { ...before45, thinking: 'none', maxOutput: 8_192, cacheMinimum: 2_048 }),
  claude('claude-3-opus', [15, 75], { ...before45, thinking: 'none', maxOutput: 4_096 }),
]

function claude(id: string, [input, output]: readonly [number, number], facts: Partial<ModelFacts>): ModelFacts {
  return {
    id,
    price: { input, output },
    window: 1_000_000,
    maxOutput: 128_000,
    tokenizer: 'claude-new',
    cacheMinimum: 1_024,
    bindsThinking: false,
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

const longestFirst = rows.toSorted((a, b) => b.id.length - a.id.length)

/** The row with the longest matching id; dates and provider prefixes are ignored. */
export function modelFacts(model: string): ModelFacts | undefined {
  const id = model.toLowerCase().replace(/^.*[/.](?=claude)/, '')
  return longestFirst.find((row) => id.startsWith(row.id))
}

/** Images and document pages allowed per request; unknown models get the smaller limit. */
export function mediaLimit(facts: Pick<ModelFacts, 'window'> | undefined): number {
  return facts !== undefined && facts.window >= 1_000_000 ? 600 : 100
}

/** Newest first. */
export function knownModels(): readonly ModelFacts[] {
  return rows
}

export function priceOf(facts: ModelFacts, promptTokens: number): Price | undefined {
  const { longPrompt } = facts
  return longPrompt !== undefined && promptTokens > longPrompt.above ? longPrompt.price : facts.price
}

/** Multiples of the input price. */
export const cachePrices = { read: 0.1, write: 1.25, writeHour: 2 } as const
