// `npm run bench -- speed [--sizes 100,1000]`: our speed beside the peers' on the same work, and how each grows.
import { parseArgs } from 'node:util'
import { versionApart } from '../peers/apart.ts'
import { versionsOf } from '../peers/versions.ts'
import { writeResults } from '../results.ts'
import { clearing, fitting, folding } from './clearing.ts'
import { compacting } from './compacting.ts'
import { type Contest, type ContestReport, hold } from './contest.ts'
import { prime } from './conversations.ts'
import { beforeRequest, countingAll, countingLengths } from './counting.ts'
import { openingOwn, openingPi, searching } from './opening.ts'
import { markdown, type SpeedReport, targetsOf } from './report.ts'

const contests: readonly Contest[] = [
  countingAll,
  countingLengths,
  beforeRequest,
  clearing,
  fitting,
  folding,
  compacting,
  openingPi,
  openingOwn,
  searching,
]

export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { sizes: { type: 'string', default: '100,1000,10000,100000' }, only: { type: 'string' } },
  })
  const sizes = values.sizes.split(',').map(Number)
  const reports: ContestReport[] = []
  for (const contest of contests) {
    if (values.only !== undefined && contest.name !== values.only) continue
    console.error(`${contest.name} …`)
    reports.push(await hold(contest, { sizes, prime }))
  }
  const report: SpeedReport = {
    node: process.versions.node,
    versions: {
      ...versionsOf(['langchain', '@langchain/core', 'ai', 'tokenx', 'gpt-tokenizer', 'js-tiktoken', 'minisearch']),
      '@mariozechner/pi-coding-agent': versionApart('@mariozechner/pi-coding-agent'),
      '@mastra/core': versionApart('@mastra/core'),
    },
    targets: targetsOf(reports),
    contests: reports,
  }
  if (values.only !== undefined) console.log(markdown(report))
  else writeResults('speed', { markdown: markdown(report), json: report })
}
