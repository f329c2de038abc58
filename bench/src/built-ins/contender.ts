// The compared ways to keep a conversation small on an SDK: the SDK's own, or ours through its adapter.
import { type EngineSettings, type Message, type ModelClient, offline } from 'everlong'
import type { World } from './world.ts'

export type Input = {
  readonly world: World
  /** The whole conversation when it is reduced. */
  readonly history: readonly Message[]
  /** Maximum tokens of the context afterwards. */
  readonly limit: number
  /** Tokens by the API's count at which Everlong compacts. The whole conversation has a few more. */
  readonly due: number
  /** Tokens of the API for a token of the limit, which is estimated in the same way for everybody. */
  readonly scale: number
  /** Tokens of the summary, which is the same for all. */
  readonly summary: number
}

/** Adds messages to the conversation and lets the model answer. Discards the answer. */
export type Call = (added: readonly Message[]) => Promise<void>

export type Contender = {
  readonly name: string
  readonly isOurs: boolean
  readonly start: (input: Input) => Promise<Call> | Call
}

export type Sdk = {
  readonly name: string
  /** One request with exactly these messages. */
  readonly plain: (world: World) => (messages: readonly Message[]) => Promise<void>
  readonly contenders: readonly Contender[]
}

/** The share of the whole conversation at which the reduction is due. */
export const dueAt = 0.97

/** Everlong with this SDK's adapter: with the summary that everybody gets, and without a model. */
export function oursBy(
  plugIn: string,
  start: (input: Input, options: OurOptions) => Promise<Call> | Call,
): readonly [withModel: Contender, noModel: Contender] {
  return [
    { name: `Everlong, ${plugIn}`, isOurs: true, start: (input) => start(input, { settings: settingsFor(input) }) },
    {
      name: `Everlong, ${plugIn}, no model`,
      isOurs: true,
      start: (input) => start(input, { settings: settingsFor(input), model: offline() }),
    },
  ]
}

export type OurOptions = { readonly settings: EngineSettings; readonly model?: ModelClient }

/** A user's settings for a compaction to this limit. Clearing is off, because it would come first and do less. */
function settingsFor({ limit, due, scale }: Input): EngineSettings {
  return {
    autoCompactAt: due,
    // The size of the new context is only estimated, with a margin of a third.
    target: (limit * scale * 4) / 3 / due,
    keep: 0,
    sessionMemory: false,
    reductions: { microCompact: false },
  }
}

/** The first of these values with which the rule stays within the limit, otherwise the last one. */
export async function firstThatFits<T>(
  values: readonly [T, ...T[]],
  fits: (value: T) => boolean | Promise<boolean>,
): Promise<T> {
  for (const value of values) if (await fits(value)) return value
  return values.at(-1) as T
}

export const keeps = [40, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2, 1] as const
