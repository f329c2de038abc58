// Plays the session to one contender, lets it make room when it must, and looks after some of its compactions which of the
// facts told so far are still there.
import { countTokens, estimateTokens, type Message } from 'everlong'
import { blocksOf } from 'everlong/internal'
import { type Contender, type Keeper, threshold } from './contender.ts'
import { type Kind, kinds, type PlantedFact } from './facts.ts'
import type { Turn } from './session.ts'

export type Round = {
  readonly compactions: number
  readonly turn: number
  readonly planted: number
  readonly inContext: number
  readonly byKind: Readonly<Record<Kind, readonly [kept: number, planted: number]>>
  /** Found by the ten best matches; absent where there is no recall. */
  readonly recalled?: number
  /** The questions that recall did not answer. */
  readonly lost?: readonly string[]
  readonly contextTokens: number
  readonly summaryTokens: number
}

export type Played = {
  readonly name: string
  readonly how: string
  /** After some of its compactions, and at the end of the session. */
  readonly rounds: readonly Round[]
  readonly compactions: number
}

export async function play(contender: Contender, turns: readonly Turn[], looks: readonly number[]): Promise<Played> {
  const keeper = await contender.open()
  const facts: PlantedFact[] = []
  const rounds: Round[] = []
  let compactions = 0
  let tokens = 0
  let summary: string | undefined
  const look = (turn: number) => rounds.push({ compactions, turn, ...roundOf(keeper, facts, { tokens, summary }) })
  for (const [at, { messages, fact }] of turns.entries()) {
    keeper.add(messages)
    tokens += countTokens(messages)
    if (fact) facts.push(fact)
    if (tokens < threshold) continue
    summary = await keeper.compact()
    compactions++
    tokens = countTokens(keeper.context())
    if (looks.includes(compactions)) look(at + 1)
  }
  look(turns.length)
  return { name: contender.name, how: contender.how, rounds, compactions }
}

type Left = { readonly tokens: number; readonly summary: string | undefined }

function roundOf(
  keeper: Keeper,
  facts: readonly PlantedFact[],
  { tokens, summary }: Left,
): Omit<Round, 'compactions' | 'turn'> {
  const shown = wordsOf(keeper.context())
  const kept = facts.filter((planted) => isIn(planted, shown))
  const found = keeper.recall?.(facts.map(({ question }) => question))
  const lost = found && facts.filter((planted, at) => !found[at]?.some((text) => isIn(planted, text)))
  return {
    planted: facts.length,
    inContext: kept.length,
    byKind: byKind(kept, facts),
    ...(lost === undefined ? {} : { recalled: facts.length - lost.length, lost: lost.map(({ question }) => question) }),
    contextTokens: tokens,
    summaryTokens: summary === undefined ? 0 : estimateTokens(summary),
  }
}

function byKind(kept: readonly PlantedFact[], all: readonly PlantedFact[]): Round['byKind'] {
  const count = (list: readonly PlantedFact[], kind: Kind) => list.filter((fact) => fact.kind === kind).length
  return Object.fromEntries(
    kinds.map((kind) => [kind, [count(kept, kind), count(all, kind)]]),
  ) as unknown as Round['byKind']
}

/** Everything that the model would read. */
export function wordsOf(messages: readonly Message[]): string {
  return plain(messages.map(({ content }) => JSON.stringify(blocksOf(content))).join('\n'))
}

export const isIn = ({ needles }: PlantedFact, text: string): boolean => {
  const shown = plain(text)
  return needles.every((needle) => shown.includes(needle))
}

/** Without the marks that JSON puts before quotes and ends of lines. */
const plain = (text: string): string => text.replaceAll('\\n', ' ').replaceAll('\\"', '"').replaceAll('\\\\', '\\')
