// What is compared: a way to keep a conversation small on some SDK, the SDK's own or ours through its adapter.
import { type EngineSettings, type Message, type ModelClient, offline } from 'everlong'
import type { World } from './world.ts'

export type Input = {
  readonly world: World
  /** The whole conversation at the moment when it is reduced. */
  readonly history: readonly Message[]
  /** Tokens that the context may have afterwards. */
  readonly limit: number
  /** Tokens, as the API counts them, from which on Everlong is to compact. The whole conversation has a few more. */
  readonly due: number
  /** Tokens of the API for a token of the limit, which is estimated in the same way for everybody. */
  readonly scale: number
  /** Tokens of the summary that everybody gets. */
  readonly summary: number
}

/** Adds messages to the conversation and lets the model answer. The answer is thrown away. */
export type Call = (added: readonly Message[]) => Promise<void>

export type Contender = {
  readonly name: string
  readonly isOurs: boolean
  readonly start: (input: Input) => Promise<Call> | Call
}

export type Sdk = {
  readonly name: string
  /** One request with these messages as they are. */
  readonly plain: (world: World) => (messages: readonly Message[]) => Promise<void>
  readonly contenders: readonly Contender[]
}

/** Where the reduction is due, as a share of the whole conversation. */
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

/** What a user writes for a compaction to this limit. Clearing is off, because it would come first and do less. */
function settingsFor({ limit, due, scale }: Input): EngineSettings {
  return {
    autoCompactAt: due,
    // What the new context has is only estimated, and counted with a margin of a third.
    target: (limit * scale * 4) / 3 / due,
    keep: 0,
    sessionMemory: false,
    reductions: { microCompact: false },
  }
}

/** The first of these values with which the rule stays within the limit, or the last one. */
export async function firstThatFits<T>(
  values: readonly [T, ...T[]],
  fits: (value: T) => boolean | Promise<boolean>,
): Promise<T> {
  for (const value of values) if (await fits(value)) return value
  return values.at(-1) as T
}

export const keeps = [40, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2, 1] as const
