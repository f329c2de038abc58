// The figures of `npm run bench -- rounds` as a page, and what was wanted of them.
import { versionsInWords } from '../peers/versions.ts'
import type { Target } from '../summary/target.ts'
import { contextWindow, threshold } from './contender.ts'
import { kinds } from './facts.ts'
import type { Played, Round } from './measure.ts'

export type RoundsReport = {
  readonly node: string
  readonly versions: Readonly<Record<string, string>>
  readonly turns: number
  readonly facts: number
  readonly targets: readonly Target[]
  readonly played: readonly Played[]
}

const isOurs = ({ name }: Played) => name.startsWith('Everlong')
const share = ({ inContext, planted }: Round) => inContext / planted

export function targetsOf(played: readonly Played[]): readonly Target[] {
  const ours = played.filter(isOurs)
  const best = Math.max(...played.filter((one) => !isOurs(one)).map(({ rounds }) => share(rounds.at(-1) ?? nothing)))
  return ours.flatMap(({ name, rounds }): readonly Target[] => {
    const [last = nothing, second = nothing] = [rounds.at(-1), rounds[1]]
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
        what: `${name}: the summary does not grow`,
        wanted: `at most 10 % over that of the ${second.compactions}th`,
        measured: `${second.summaryTokens} → ${last.summaryTokens} tokens`,
        met: last.summaryTokens <= second.summaryTokens * 1.1,
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

export function markdown({ node, versions, turns, facts, targets, played }: RoundsReport): string {
  const all = played.flatMap((one) => one.rounds.map((round) => ({ one, round })))
  return `# Rounds: what is left after many compactions

Written by \`npm run bench -- rounds\` with Node ${node}, ${versionsInWords(versions)}.

A made-up session of ${turns} turns with ${facts} facts of ten kinds, one in every ${Math.round(turns / facts)} turns, each told once: by the person, by
the assistant, or in a tool's input or result. The window has ${contextWindow} tokens, and everybody makes room at ${threshold}. Every
summary is written by the same deterministic summarizer (the simulator's), in at most 4,096 tokens, over the messages that
the contender shows it. A fact counts as kept when all of its own words stand in the context right after the compaction: a
constraint the whole sentence, another fact its name and its value. *Recall* asks the archive of the session with words that
do not hold the answer, and reads the ten best matches (of a call also its result). No peer has a recall over what it dropped.

| what | wanted | measured | met |
| --- | --- | --- | --- |
${targets.map(({ what, wanted, measured, met }) => `| ${what} | ${wanted} | ${measured} | ${met ? 'yes' : '**no**'} |`).join('\n')}

The last line of each is the end of the session: the same turn for everybody, however often they made room.

| | compactions | turn | facts so far | in the context | | by recall | summary, tokens | context, tokens |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${all.map(({ one, round }) => `| ${one.name} | ${round.compactions} | ${round.turn} | ${round.planted} | ${round.inContext} | ${percent(share(round))} | ${round.recalled ?? '–'} | ${round.summaryTokens} | ${round.contextTokens} |`).join('\n')}

## By kind, at the end of the session

| | ${kinds.join(' | ')} |
| --- |${kinds.map(() => ' --- |').join('')}
${played.map(({ name, rounds }) => `| ${name} | ${kinds.map((kind) => (rounds.at(-1)?.byKind[kind] ?? []).join(' / ')).join(' | ')} |`).join('\n')}

${played.map(({ name, how, compactions }) => `- ${name}: ${how}; ${compactions} compactions in all.`).join('\n')}
`
}
