// `npm run bench -- fidelity [--transcripts DIR] [--cuts N] [--show NAME [--contender NAME] [--budget N]]`: what each
// contender keeps at each recorded compaction of a folder of transcripts and at N other points of each session; or one
// context to be read. Results hold no text of theirs.
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { findTranscripts } from 'everlong/internal/node'
import { defineBenchmark } from '../benchmark.ts'
import { versionsInWords, versionsOf } from '../peers/versions.ts'
import { transcriptFolder } from '../root.ts'
import { type Case, casesOf, cutsOf } from './cases.ts'
import { contenders } from './contenders.ts'
import { countTokens, missingIn, questionsOf, score, unsupported } from './measure.ts'
import { type CaseReport, type FidelityFigures, fidelityPage, type Row } from './page.ts'
import { recordedContext } from './parts.ts'

export const benchmark = defineBenchmark({ name: 'fidelity', run, page: fidelityPage })

async function run(args: readonly string[]): Promise<FidelityFigures | undefined> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      transcripts: { type: 'string' },
      show: { type: 'string' },
      contender: { type: 'string', default: 'ours, offline' },
      budget: { type: 'string' },
      missing: { type: 'boolean', default: false },
      cuts: { type: 'string', default: '4' },
    },
  })
  const folder = values.transcripts ?? transcriptFolder()
  if (folder === undefined) {
    console.error('No transcripts: give a folder with --transcripts DIR.')
    process.exitCode = 2
    return undefined
  }
  const paths = findTranscripts([folder]).files
  const cases = paths.flatMap((path) => casesOf(path, nameOf(path)))
  const cuts = paths.flatMap((path) => cutsOf(path, { name: nameOf(path), count: Number(values.cuts) }))
  if (values.show !== undefined) {
    for (const found of [...cases, ...cuts].filter(({ name }) => name === values.show)) await show(found, values)
    return undefined
  }
  const reports: CaseReport[] = []
  const held: CaseReport[] = []
  for (const found of cases) reports.push(...(await caseReport(found)))
  for (const found of cuts) held.push(...(await cutReport(found)))
  const versions = versionsInWords(
    versionsOf(['@anthropic-ai/sdk', 'langchain', '@langchain/core', '@mariozechner/pi-coding-agent']),
  )
  return { versions, cases: reports, cuts: held }
}

type Showing = { readonly contender: string; readonly budget?: string | undefined; readonly missing: boolean }

async function show(found: Case, { contender, budget, missing }: Showing): Promise<void> {
  const recorded = recordedContext(found)
  const make = contenders[contender]
  const context = make ? await make(found, budget === undefined ? countTokens(recorded) : Number(budget)) : recorded
  console.log(context)
  if (!missing) return
  const questions = questionsOf(found)
  console.log('\n=====', JSON.stringify(score(context, questions)))
  console.log('unsupported:', unsupported(context, questions.source).join(' | '))
  console.log('missing:', missingIn(context, questions).join(' | '))
}

function nameOf(path: string): string {
  return basename(path).slice(0, 12)
}

const budgets = [4000, 8000, 16_000, 24_000]
const minNeeded = 10

/** With a handful of atoms a share says nothing, and without a recorded context there is nothing to compare with. */
async function caseReport(found: Case): Promise<readonly CaseReport[]> {
  if (found.written === '') return []
  const questions = questionsOf(found)
  const recorded = recordedContext(found)
  const tokens = countTokens(recorded)
  if (questions.needed.length < minNeeded || tokens < 500) return []
  const rows: Row[] = [{ contender: 'recorded', at: 'recorded', ...score(recorded, questions) }]
  for (const contender of Object.keys(contenders)) {
    for (const at of ['half', 'recorded', ...budgets] as const) {
      const budget = at === 'recorded' ? tokens : at === 'half' ? Math.floor(tokens / 2) : at
      rows.push({ contender, at, ...score(await contextOf(found, { contender, budget }), questions) })
    }
  }
  return [{ name: found.name, needed: questions.needed.length, human: questions.human.length, rows }]
}

/** Those that need no recorded summary. */
const withoutModel = ['ours, offline', 'newest that fit'] as const

async function cutReport(found: Case): Promise<readonly CaseReport[]> {
  const questions = questionsOf(found)
  if (questions.needed.length < minNeeded) return []
  const rows: Row[] = []
  for (const contender of withoutModel) {
    for (const at of budgets) {
      rows.push({ contender, at, ...score(await contextOf(found, { contender, budget: at }), questions) })
    }
  }
  return [{ name: found.name, needed: questions.needed.length, human: questions.human.length, rows }]
}

type Making = { readonly contender: string; readonly budget: number }

async function contextOf(found: Case, { contender, budget }: Making): Promise<string> {
  const context = (await contenders[contender]?.(found, budget)) ?? ''
  // Joined texts are estimated a little differently than the messages they come from.
  if (countTokens(context) > budget * 1.001)
    throw new Error(`${found.name}: ${contender} left ${countTokens(context)} tokens, and ${budget} were allowed.`)
  return context
}
