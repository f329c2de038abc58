// The data between the page and its server: plain JSON. Times are milliseconds since 1970, prices US dollars. `null` means
// unknown.
import type { Format } from 'everlong/internal'
import type { ContextSize, ContextState, KindTokens } from 'everlong/internal/compaction'

export type TokenSums = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** One session in the list. */
export type SessionRow = {
  readonly id: string
  readonly path: string
  readonly bytes: number
  readonly modified: number
  /** `null` until the file was read. */
  readonly facts: SessionFacts | null
  /** The reason why the file cannot be read. */
  readonly trouble: string | null
}

export type SessionFacts = {
  readonly agent: Format
  /** The start of the user's first message. */
  readonly title: string
  /** The folder that the agent worked in. */
  readonly project: string | null
  readonly from: number | null
  readonly to: number | null
  readonly messages: number
  readonly turns: number
  readonly compactions: number
  readonly models: readonly ModelUse[]
  readonly tokens: TokenSums
  /** Cost of the models with a known price. */
  readonly cost: number
  readonly withoutPrice: readonly string[]
  /** Share of the prompt tokens that was read from the cache. */
  readonly cachedShare: number | null
  /** Number of facts that the current context lacks, counted like `everlong lost`. `null` if unknown. */
  readonly lost: number | null
}

export type ModelUse = {
  readonly model: string
  readonly answers: number
  readonly tokens: TokenSums
  readonly cost: number | null
}

export type Overview = {
  /** The searched paths. */
  readonly paths: readonly string[]
  /** Grows with every change. A page that sends it gets only later changes. */
  readonly version: number
  readonly sessions: readonly SessionRow[]
  /** Ids of removed sessions. */
  readonly gone: readonly string[]
  readonly total: number
  /** Number of sessions whose facts are known. */
  readonly read: number
}

/** The kinds of the context, from the bottom of the chart to its top. */
export const bands = ['system', 'summaries', 'user', 'assistant', 'thinking', 'results', 'files'] as const
export type Band = (typeof bands)[number]

export type SessionData = {
  readonly row: SessionRow
  readonly gauge: Gauge | null
  /** The reason why there is no gauge: settings of the environment that cannot work. */
  readonly trouble: string | null
  readonly items: number
  /** The type of each item as a letter of `itemLetters`, by which the page filters. */
  readonly types: string
  /** The index of the first item of each epoch. */
  readonly epochs: readonly number[]
  readonly compactions: readonly CompactionRow[]
}

/** Slower than everything else, so it is requested separately. */
export type LostData = {
  /** Facts that the current context lacks, most harmful first, like `everlong lost`. */
  readonly facts: readonly LostItem[]
  /** Claims of the current summary that the conversation does not support. */
  readonly doubts: readonly Doubt[]
  readonly unknown: 'unreadable-summary' | 'other-language' | null
  /** Compactions that were undone. */
  readonly undone: readonly number[]
  /** Compactions whose summary is encrypted or missing. */
  readonly unreadable: readonly number[]
}

export type Gauge = {
  readonly model: string | null
  readonly window: number
  readonly size: ContextSize
  readonly state: ContextState
  readonly percentLeft: number
  readonly isAutoCompactOn: boolean
  readonly marks: {
    readonly warning: number
    readonly autoCompact: number
    readonly blocking: number
    readonly effectiveWindow: number
  }
  readonly warnings: readonly string[]
}

/** The context over time: one point for each answer of the main conversation. All lists of points have the same length. */
export type WindowData = {
  readonly items: readonly number[]
  readonly times: readonly (number | null)[]
  readonly totals: readonly number[]
  /** By band. Together they are the total. */
  readonly bands: Readonly<Record<Band, readonly number[]>>
  /** Tokens that edits had cleared from the context by then. Not part of the total. */
  readonly cleared: readonly number[]
  readonly misses: readonly CacheMiss[]
  readonly gaps: readonly IdleGap[]
}

export type CacheMiss = {
  readonly point: number
  readonly tokens: number
  readonly reasons: readonly string[]
  /** Cost of writing these tokens to the cache again instead of reading them. */
  readonly cost: number | null
}

/** A pause before a point that was longer than the cache's lifetime. */
export type IdleGap = { readonly point: number; readonly milliseconds: number }

export type CompactionRow = {
  readonly number: number
  readonly uuid: string
  readonly item: number
  readonly line: number
  readonly trigger: string
  readonly time: number | null
  readonly tokensBefore: number | null
  readonly tokensAfter: number | null
  readonly milliseconds: number | null
  readonly kept: number
  readonly summaryCharacters: number | null
  readonly isUndone: boolean
  /** The uuid to undo: of the compaction, or of its undo, which restores it. `null` if Everlong did not write it. */
  readonly undo: string | null
}

export type LostItem = {
  readonly type: 'rule' | 'decision' | 'request' | 'failure' | 'command' | 'file'
  readonly text: string
  readonly about: string | null
  readonly cause: string | null
  readonly by: 'agent' | null
  readonly uuid: string
  readonly item: number | null
  readonly line: number
  readonly time: number | null
  readonly compaction: number
}

export const itemLetters = {
  user: 'u',
  agent: 'g',
  assistant: 'a',
  result: 'r',
  summary: 's',
  attachment: 't',
  meta: 'm',
  compaction: 'c',
  edit: 'e',
  note: 'n',
} as const

/** A record of the conversation. Texts are cut; `/items/N` has the whole text. */
export type Item = {
  readonly index: number
  readonly uuid: string | null
  readonly line: number
  readonly time: number | null
  readonly epoch: number
  readonly type: keyof typeof itemLetters
  readonly blocks: readonly ItemBlock[]
  /** Estimated. */
  readonly tokens: number
  readonly model: string | null
  /** Part of the next request. */
  readonly isLive: boolean
  /** The number of a compaction. */
  readonly compaction: number | null
}

export type ItemBlock = {
  readonly type: 'text' | 'thinking' | 'call' | 'result' | 'image' | 'other'
  readonly text: string
  /** Characters of the whole text. */
  readonly length: number
  readonly isCut: boolean
  /** For calls and results. */
  readonly tool: string | null
  readonly callId: string | null
  readonly isError: boolean
}

export type ItemPage = { readonly from: number; readonly items: readonly Item[] }

export type Found = { readonly item: number; readonly snippet: string }
export type FoundItems = { readonly found: readonly Found[]; readonly isComplete: boolean }

/** A sub-agent or a recorded compaction run. */
export type AgentLane = {
  readonly id: string
  readonly kind: 'agent' | 'compaction'
  readonly place: 'inside' | 'beside' | 'folder'
  readonly name: string
  /** The item of the main conversation that started it. */
  readonly item: number | null
  /** Its own file, as a session of the list. */
  readonly session: string | null
  readonly entries: number
  readonly from: number | null
  readonly to: number | null
  readonly tokens: TokenSums | null
  readonly cost: number | null
}

export type CompactionData = {
  readonly row: CompactionRow
  readonly before: ContextPart
  readonly after: ContextPart
  /** The model's text, line by line. */
  readonly summary: readonly SummaryLine[]
  readonly doubts: readonly Doubt[]
  /** The user's messages before it, oldest first. */
  readonly words: readonly UserWords[]
  /** Facts that the context lacked right after it, most harmful first. */
  readonly gone: readonly GoneItem[]
  readonly unknown: 'unreadable-summary' | 'other-language' | null
  readonly restored: readonly Restored[]
  readonly price: CompactionPrice
}

export type ContextPart = {
  readonly messages: number
  /** Estimated, without the system prompt and tools. */
  readonly tokens: number
  readonly kinds: readonly KindTokens[]
  /** Items of the conversation in it. */
  readonly items: readonly number[]
}

export type SummaryLine = { readonly isHeading: boolean; readonly sentences: readonly SummarySentence[] }

export type SummarySentence = {
  readonly text: string
  /** Sources in the conversation, best first. Empty: code found none. `null`: too short to search. */
  readonly sources: readonly SentenceSource[] | null
  readonly doubts: readonly Doubt['type'][]
}

export type SentenceSource = { readonly item: number; readonly share: number; readonly snippet: string }

export type Doubt = { readonly type: 'quote' | 'approval' | 'state' | 'name'; readonly text: string }

export type UserWords = {
  readonly item: number | null
  readonly text: string
  /** Whether the context after the compaction has it: word for word, in similar words, or not. */
  readonly found: 'verbatim' | 'similar' | 'missing'
}

/** `isSettled`: the current context does not lack it any more: it was repeated, or something later replaced it. */
export type GoneItem = LostItem & { readonly isSettled: boolean }

export type Restored = { readonly item: number; readonly kind: string; readonly title: string; readonly tokens: number }

export type CompactionPrice = {
  readonly model: string | null
  /** Cost of the summary request: recorded, or estimated from the sizes. */
  readonly asking: number | null
  readonly isEstimated: boolean
  /** Cost of writing the new prefix to the cache, from the next answer. */
  readonly rewriting: number | null
}

/** What Everlong would have left, without a model. */
export type Alternative =
  | {
      readonly type: 'compacted'
      readonly messages: readonly { readonly role: string; readonly origin: string; readonly text: string }[]
      readonly tokensBefore: number
      readonly tokensAfter: number
      /** Number of the user's messages before the compaction, how many this context has, and how many the recorded one has. */
      readonly words: { readonly all: number; readonly here: number; readonly recorded: number }
      readonly restored: readonly string[]
    }
  | { readonly type: 'declined'; readonly why: string }

/** The place of an entry in the conversation. */
export type Place = { readonly item: number | null }

/** A match in all sessions. */
export type SearchMatch = {
  readonly session: string
  readonly uuid: string | null
  readonly line: number
  readonly snippet: string
  readonly time: number | null
  readonly kind: string
}
export type SearchData = { readonly matches: readonly SearchMatch[]; readonly more: boolean }

/** One session in a single file. */
export type ExportData = {
  /** Comment of the person who shares it. */
  readonly comment: string | null
  readonly session: SessionData
  readonly lost: LostData
  readonly window: WindowData
  readonly agents: readonly AgentLane[]
  readonly items: readonly Item[]
  readonly compactions: readonly { readonly data: CompactionData; readonly alternative: Alternative }[]
}

/** The answer of `POST /api/sessions/ID/undo`. */
export type Undone = { readonly undone: string }

/** An error of the server. */
export type Refusal = { readonly error: string }
