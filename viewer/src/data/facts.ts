// One session in the list: its topic, its usage and cost, its compactions, and their losses.
import type { Entry } from 'everlong'
import { clippedAtWord, costOf, type Format, messageOf, originOf, type Scan, stringAt, textOf } from 'everlong/internal'
import { createStatisticsBook } from 'everlong/internal/compaction'
import type { ModelUse, SessionFacts, TokenSums } from './api.ts'

/** Collects data that the scan does not keep. Call it with every entry. */
export function createTitleBook() {
  let title: string | undefined
  let project: string | undefined
  return {
    add: ({ record }: Entry) => {
      project ??= stringAt(record, 'cwd')
      if (title !== undefined || record.isSidechain === true || originOf(record) !== 'human') return
      const said = textOf(messageOf(record)?.content).replace(/\s+/g, ' ').trim()
      // A command of the client says nothing about the work.
      if (said !== '' && !said.startsWith('<')) title = clippedAtWord(said, maxTitle)
    },
    found: () => ({ title: title ?? '', project: project ?? null }),
  }
}

const maxTitle = 200

export type FactSource = {
  readonly scan: Scan & { readonly format: Format; readonly salvaged: number }
  readonly titles: { readonly title: string; readonly project: string | null }
  /** Number of facts that the current context lacks. `null` if unknown. */
  readonly lost: number | null
}

export function sessionFacts({ scan, titles, lost }: FactSource): SessionFacts {
  const { epochs } = scan
  const models = modelsOf(scan)
  const tokens = models.reduce((sum, { tokens }) => addSums(sum, tokens), noSums)
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite
  const times = epochs.flatMap(({ from, to }) => [from, to]).flatMap((time) => parsed(time) ?? [])
  return {
    agent: scan.format,
    ...titles,
    from: times[0] ?? null,
    to: times.at(-1) ?? null,
    messages: epochs.reduce((sum, { messages }) => sum + messages, 0),
    turns: epochs.reduce((sum, { humanTurns }) => sum + humanTurns, 0),
    compactions: epochs.length - 1,
    models,
    tokens,
    cost: models.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    withoutPrice: models.filter(({ cost }) => cost === null).map(({ model }) => model),
    cachedShare: prompt === 0 ? null : tokens.cacheRead / prompt,
    lost,
  }
}

/** Counted like `everlong inspect --stats`. */
export function modelsOf(scan: FactSource['scan']): readonly ModelUse[] {
  const book = createStatisticsBook()
  book.add(scan, { kind: 'session', salvaged: scan.salvaged })
  return book.statistics().models.map(({ model, answers, tokens }) => ({
    ...{ model, answers, cost: costOf(tokens, model) ?? null },
    tokens: sumsOf(tokens),
  }))
}

export const noSums: TokenSums = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export function addSums(a: TokenSums, b: TokenSums): TokenSums {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  }
}

function sumsOf({ input, output, cacheRead, cacheWrite }: TokenSums): TokenSums {
  return { input, output, cacheRead, cacheWrite }
}

export function parsed(time: string | undefined): number | undefined {
  const value = Date.parse(time ?? '')
  return Number.isNaN(value) ? undefined : value
}
