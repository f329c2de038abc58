// `npm run bench -- rounds`: what is left of 200 planted facts after 1, 4, 8 and 16 compactions, for us and for the peers
// with the same summarizer.
import { parseArgs } from 'node:util'
import { versionApart } from '../peers/apart.ts'
import { versionsOf } from '../peers/versions.ts'
import { writeResults } from '../results.ts'
import { type Played, play } from './measure.ts'
import { oursOffline, oursWithModel } from './ours.ts'
import { peers } from './peers.ts'
import { markdown, type RoundsReport, targetsOf } from './report.ts'
import { madeUpTurns } from './session.ts'

const looks = [1, 4, 8, 16]

export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
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
  const report: RoundsReport = {
    node: process.versions.node,
    versions: {
      ...versionsOf(['langchain', '@langchain/core', '@anthropic-ai/sdk']),
      '@mariozechner/pi-coding-agent': versionApart('@mariozechner/pi-coding-agent'),
    },
    turns: turns.length,
    facts: turns.filter(({ fact }) => fact).length,
    targets: targetsOf(played),
    played,
  }
  if (values.only !== undefined) console.log(markdown(report))
  else writeResults('rounds', { markdown: markdown(report), json: report })
}
