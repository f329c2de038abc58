// `npm run bench -- rounds`: what is left of 200 planted facts after 1, 4, 8 and 16 compactions, for us and for the peers
// with the same summarizer.
import { parseArgs } from 'node:util'
import { defineBenchmark, type Page, type Target, table, targetTable } from '../benchmark.ts'
import { versionsInWords, versionsOf } from '../peers/versions.ts'
import { contextWindow, threshold } from './contender.ts'
import { kinds } from './facts.ts'
import { type Played, play, type Round } from './measure.ts'
import { oursOffline, oursWithModel } from './ours.ts'
import { peers } from './peers.ts'
import { madeUpTurns } from './session.ts'

const looks = [1, 4, 8, 16]
/** The default. What earlier rounds wrote stays as it is until this forces it out. */
const handoverSize = 12_000

type RoundsReport = {
  readonly node: string
  readonly versions: Readonly<Record<string, string>>
  readonly turns: number
  readonly facts: number
  readonly targets: readonly Target[]
  readonly played: readonly Played[]
}

export const benchmark = defineBenchmark({ name: 'rounds', run, page, targets: ({ targets }) => targets })

async function run(args: readonly string[]): Promise<RoundsReport> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      turns: { type: 'string', default: '2000' },
      facts: { type: 'string', default: '200' },
      only: { type: 'string' },
    },
  })
  const turns = madeUpTurns(Number(values.turns), Number(values.facts))
  const played: Played[] = []
  for (const contender of [oursOffline, oursWithModel, ...peers]) {
    if (values.only !== undefined && !contender.name.includes(values.only)) continue
    console.error(`${contender.name} …`)
    played.push(await play(contender, turns, looks))
  }
  return {
    node: process.versions.node,
    versions: versionsOf(['langchain', '@langchain/core', '@anthropic-ai/sdk', '@mariozechner/pi-coding-agent']),
    turns: turns.length,
    facts: turns.filter(({ fact }) => fact).length,
    targets: targetsOf(played),
    played,
  }
}

const isOurs = ({ name }: Played) => name.startsWith('Everlong')
const share = ({ inContext, planted }: Round) => inContext / planted

function targetsOf(played: readonly Played[]): readonly Target[] {
  const ours = played.filter(isOurs)
  const best = Math.max(...played.filter((one) => !isOurs(one)).map(({ rounds }) => share(rounds.at(-1) ?? nothing)))
  return ours.flatMap(({ name, rounds }): readonly Target[] => {
    const last = rounds.at(-1) ?? nothing
    const [kept, planted] = last.byKind.constraint ?? [0, 0]
    const recalled = last.recalled ?? 0
    return [
      {
        what: `${name}: constraints in the context at the end, after ${last.compactions} compactions`,
        wanted: 'all',
        measured: `${kept} of ${planted}`,
        met: kept === planted,
      },
      {
        what: `${name}: in the context or found by recall`,
        wanted: 'all',
        measured: `${last.inContext} in the context, ${recalled} by recall, of ${last.planted}`,
        met: recalled === last.planted,
      },
      {
        what: `${name}: the handover grows to its size, and no further`,
        wanted: `at most ${handoverSize.toLocaleString('en')} tokens in every round`,
        measured: `${rounds.map(({ summaryTokens }) => summaryTokens.toLocaleString('en')).join(' → ')} tokens`,
        met: rounds.every(({ summaryTokens }) => summaryTokens <= handoverSize),
      },
      {
        what: `${name}: more in the context than the best peer`,
        wanted: `over ${percent(best)}`,
        measured: percent(share(last)),
        met: share(last) > best,
      },
    ]
  })
}

const nothing: Round = {
  compactions: 0,
  turn: 0,
  planted: 1,
  inContext: 0,
  byKind: {} as Round['byKind'],
  contextTokens: 0,
  summaryTokens: 0,
}

const percent = (value: number) => `${Math.round(100 * value)} %`

function page({ node, versions, turns, facts, targets, played }: RoundsReport): Page {
  const all = played.flatMap((one) => one.rounds.map((round) => ({ one, round })))
  return {
    title: 'Rounds: what is left after many compactions',
    parts: [
      `Written by \`npm run bench -- rounds\` with Node ${node}, ${versionsInWords(versions)}.`,
      `A generated session of ${turns} turns with ${facts} facts of ten kinds, one in every ${Math.round(turns / facts)} turns, each stated once: by the
person, by the assistant, or in a tool's input or result. The window has ${contextWindow} tokens, and everybody makes room at ${threshold}. Every
summary is written by the same deterministic summarizer (the simulator's), in at most 4,096 tokens, over the messages that
the contender shows it. A fact counts as kept when all of its own words are in the context right after the compaction: a
constraint needs the whole sentence, another fact its name and its value. *Recall* asks the archive of the session with words
that do not hold the answer, and reads the ten best matches (of a call also its result). No peer has a recall over what it
dropped.`,
      targetTable(targets),
      'The last line of each is the end of the session: the same turn for everybody, however often they made room.',
      table(
        [
          '',
          'compactions',
          'turn',
          'facts so far',
          'in the context',
          'share',
          'by recall',
          'summary, tokens',
          'context, tokens',
        ],
        all.map(({ one, round }) => [
          one.name,
          round.compactions,
          round.turn,
          round.planted,
          round.inContext,
          percent(share(round)),
          round.recalled ?? '–',
          round.summaryTokens,
          round.contextTokens,
        ]),
      ),
      '## By kind, at the end of the session',
      table(
        ['', ...kinds],
        played.map(({ name, rounds }) => [
          name,
          ...kinds.map((kind) => (rounds.at(-1)?.byKind[kind] ?? []).join(' / ')),
        ]),
      ),
      played.map(({ name, how, compactions }) => `- ${name}: ${how}; ${compactions} compactions in all.`).join('\n'),
    ],
  }
}
