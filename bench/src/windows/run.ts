// `npm run bench -- windows`: sessions in windows of 8,000 to 64,000 tokens: how much of the window is usable, whether the server
// refuses a request, and what is left of the user's rules and of planted facts.
import { defineBenchmark, type Page, type Target, table, targetTable } from '../benchmark.ts'
import { answeredAt } from '../economy/probes.ts'
import { type Played, play, turnCount } from './play.ts'

const windows = [8_000, 16_000, 32_000, 64_000]

/** Who answers the questions of the handover from the context that a compaction leaves in such a window. */
const asked = ['ours, model summary', 'ours, ordinary summary', 'ours, offline', 'LangChain’s middleware'] as const

type Handover = {
  readonly who: string
  readonly scores: readonly { readonly window: number; readonly score: number }[]
}

type WindowsReport = {
  readonly node: string
  readonly played: readonly Played[]
  /** Empty without the recorded sessions; figures of before have none. */
  readonly handovers?: readonly Handover[]
}

export const benchmark = defineBenchmark({ name: 'windows', run, page, targets: ({ played }) => targetsOf(played) })

async function run(): Promise<WindowsReport> {
  const played: Played[] = []
  for (const window of windows) {
    console.error(`a window of ${window} …`)
    played.push(await play(window))
  }
  return { node: process.versions.node, played, handovers: await handoversIn(played) }
}

/** Those that were compacted, with the mean size that a compaction left. */
async function handoversIn(played: readonly Played[]): Promise<readonly Handover[]> {
  const small = played.filter(({ compactions }) => compactions > 0)
  const handovers: Handover[] = []
  for (const who of asked) {
    console.error(`${who} …`)
    const answered = await answeredAt(
      small.map(({ after }) => after),
      who,
    )
    const scores = answered.map(({ score }, at) => ({ window: small[at]?.window ?? 0, score }))
    if (scores.length > 0) handovers.push({ who, scores })
  }
  return handovers
}

const percent = (value: number) => `${Math.round(100 * value)} %`
const minUsable: Readonly<Record<number, number>> = { 8000: 0.6, 16000: 0.6, 32000: 0.7, 64000: 0.7 }

function targetsOf(played: readonly Played[]): readonly Target[] {
  return played.flatMap(({ window, threshold, refused, requests, rules, largest }): readonly Target[] => [
    {
      what: `a window of ${window}: usable before a compaction`,
      wanted: `at least ${percent(minUsable[window] ?? 0)}`,
      measured: `${percent(threshold / window)}; the largest prompt took ${percent(largest / window)}`,
      met: threshold / window >= (minUsable[window] ?? 0),
    },
    {
      what: `a window of ${window}: refused requests`,
      wanted: `none in ${turnCount} turns`,
      measured: `${refused} of ${requests}`,
      met: refused === 0,
    },
    {
      what: `a window of ${window}: the user’s rules, verbatim in the context at the end`,
      wanted: 'all',
      measured: `${rules[0]} of ${rules[1]}`,
      met: rules[0] === rules[1],
    },
  ])
}

function page({ node, played, handovers }: WindowsReport): Page {
  return {
    title: 'Windows: sessions with small models',
    parts: [
      `Written by \`npm run bench -- windows\` with Node ${node}.`,
      `A generated session of ${turnCount} turns with 40 planted facts of ten kinds, 4 of them rules of the user, with a system prompt, three
tools and an output limit of 2,048 tokens. The simulator has a model of each window. It refuses a request whose prompt and output
limit together exceed the window, as most servers of local models do. Summaries are written by the simulator's summarizer. A fact
counts as kept if all of its own words are in the context at the end.`,
      targetTable(targetsOf(played)),
      table(
        [
          'window',
          'compacts at',
          'usable',
          'largest prompt',
          'requests',
          'refused',
          'compactions',
          'context after one, tokens',
          'rules',
          'facts in the context',
          'of the last 20 turns',
          'in the context or found by recall',
        ],
        played.map((one) => [
          one.window,
          one.threshold,
          percent(one.threshold / one.window),
          one.largest,
          one.requests,
          one.refused,
          one.compactions,
          one.after,
          one.rules.join(' / '),
          one.facts.join(' / '),
          one.recent.join(' / '),
          `${one.recalled} / ${one.facts[1]}`,
        ]),
      ),
      ...(handovers ? handoverParts(handovers, played) : []),
    ],
  }
}

function handoverParts(handovers: readonly Handover[], played: readonly Played[]): Page['parts'] {
  const [first] = handovers
  if (!first) return ['The questions of the handover were not asked: there are no recorded sessions.']
  const sizes = first.scores.map(({ window }) => played.find((one) => one.window === window)?.after ?? 0)
  const columns = first.scores.map(({ window }, at) => {
    return `a window of ${window.toLocaleString('en')} (${sizes[at]?.toLocaleString('en')} tokens)`
  })
  return [
    `## What a compaction hands over

The questions of [handover.md](handover.md) about recorded work, asked of a context of the size that a compaction leaves in such a window (above).
The sessions were recorded in windows of 200,000 tokens, so far more than a small window holds has to be said in it.`,
    table(
      ['questions answered', ...columns],
      handovers.map(({ who, scores }) => [who, ...scores.map(({ score }) => `${(100 * score).toFixed(0)} %`)]),
    ),
  ]
}
