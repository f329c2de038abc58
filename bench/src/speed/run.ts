// `npm run bench -- speed [--sizes 100,1000]`: our speed beside the peers' on the same work, and how each grows.
import { parseArgs } from 'node:util'
import { versionApart } from '../peers/apart.ts'
import { versionsOf } from '../peers/versions.ts'
import { writeResults } from '../results.ts'
import { type ContestReport, type Holding, hold } from './contest.ts'
import { contestOf, contests } from './contests.ts'
import { raceApart } from './race.ts'
import { markdown, type SpeedReport, targetsOf } from './report.ts'

export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { sizes: { type: 'string', default: '100,1000,10000,100000' }, only: { type: 'string' } },
  })
  const sizes = values.sizes.split(',').map(Number)
  const reports: ContestReport[] = []
  for (const name of values.only === undefined ? Object.keys(contests) : [values.only]) {
    console.error(`${name} …`)
    const race: Holding['race'] = (starting, size) =>
      raceApart({ contest: name, size, starting: starting.map((contestant) => contestant.name) })
    reports.push(await hold(await contestOf(name), { sizes, race }))
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
