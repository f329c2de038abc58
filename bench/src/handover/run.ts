// `npm run bench -- handover [--probes DIR] [--transcripts DIR] [--show CASE --contender NAME [--limit N]] [--dry]`: how much of
// what the next agent needs to know it can read in the context that it gets. Graded by code; results hold no text of the
// transcripts.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findTranscripts } from 'everlong/internal/node'
import { defineBenchmark } from '../benchmark.ts'
import { type Case, casesOf } from '../fidelity/cases.ts'
import { countTokens } from '../fidelity/measure.ts'
import { recordedContext } from '../fidelity/parts.ts'
import { dataFolder } from '../root.ts'
import { type Context, contenders, type Limit, references } from './contexts.ts'
import { boundaries, type Grade, gradeContext, meanScore, type ProbeSet, readProbes, weightedMean } from './grade.ts'
import { oneSearch } from './one-search.ts'
import { handoverPage } from './page.ts'
import {
  alone,
  type CaseReport,
  type HandoverFigures,
  handovers,
  type Row,
  recorded,
  type Select,
  withModel,
} from './rows.ts'
import { targetsOf } from './targets.ts'

/** undefined: at default settings. */
const limits = [undefined, 'recorded', 3_000, 6_000, 12_000, 24_000] as const

export const benchmark = defineBenchmark({
  name: 'handover',
  run,
  page: handoverPage,
  targets: ({ targets }) => targets,
})

async function run(args: readonly string[]): Promise<HandoverFigures | undefined> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      probes: { type: 'string' },
      transcripts: { type: 'string' },
      show: { type: 'string' },
      contender: { type: 'string', default: 'ours, model summary' },
      limit: { type: 'string' },
    },
  })
  const probes = values.probes ?? dataFolder('probes')
  const transcripts = values.transcripts ?? dataFolder('transcripts')
  if (probes === undefined || transcripts === undefined || !existsSync(probes)) {
    console.error(
      'No probes: give a folder of them with --probes DIR, and of their transcripts with --transcripts DIR.',
    )
    process.exitCode = 2
    return undefined
  }
  const found = readProbes(probes).map((set) => ({ set, found: caseOf(set, { probes, transcripts }) }))
  if (values.show !== undefined) {
    await show(found, { ...values, show: values.show })
    return undefined
  }
  const graded: GradedCase[] = []
  for (const one of found) graded.push(await gradedCase(one))
  const cases = graded.map(({ name, probes, rows }) => ({ name, probes, rows: rows.map(({ grades, ...row }) => row) }))
  return { cases, targets: targetsOf(cases), kinds: kindsOf(graded), lost: lostIn(graded) }
}

type GradedRow = Row & { readonly grades: readonly Grade[] }
type GradedCase = Omit<CaseReport, 'rows'> & { readonly rows: readonly GradedRow[] }

const gradesOf = ({ rows }: GradedCase, { contender, at }: Select) =>
  rows.find((row) => row.contender === contender && row.at === at)?.grades ?? []

function kindsOf(cases: readonly GradedCase[]): HandoverFigures['kinds'] {
  const selects: readonly Select[] = [
    recorded,
    alone,
    ...handovers.map((contender) => ({ contender, at: 'default' as const })),
  ]
  return Object.fromEntries(
    selects.map((select) => {
      const byKind = Map.groupBy(
        cases.flatMap((found) => gradesOf(found, select)),
        ({ kind }) => kind,
      )
      return [select.contender, Object.fromEntries([...byKind].map(([kind, grades]) => [kind, meanScore(grades)]))]
    }),
  )
}

function lostIn(cases: readonly GradedCase[]): HandoverFigures['lost'] {
  return cases.flatMap((found) => {
    const ours = new Map(gradesOf(found, { contender: withModel, at: 'default' }).map(({ id, score }) => [id, score]))
    return gradesOf(found, alone).flatMap(({ id, score }) => {
      const now = ours.get(id) ?? 0
      return now < score ? [{ case: found.name, question: id, scores: [score, now] as const }] : []
    })
  })
}

type Found = { readonly set: ProbeSet; readonly found: Case }

/** The README next to the probes says which boundary of which transcript a case is about. */
export function caseOf({ name }: ProbeSet, folders: { readonly probes: string; readonly transcripts: string }): Case {
  const row = boundaries(folders.probes).get(name)
  if (row === undefined) throw new Error(`${name}: the README of the probes names no transcript for it.`)
  const path = findTranscripts([join(folders.transcripts, row.file)]).files[0]
  const found = path === undefined ? undefined : casesOf(path, name).find(({ at }) => at === row.boundary)
  if (found === undefined) throw new Error(`${name}: no boundary ${row.boundary} in ${row.file}.`)
  return found
}

async function gradedCase({ set, found }: Found): Promise<GradedCase> {
  const { answers } = set
  const rows: GradedRow[] = []
  const grade = async (contender: string, at: Row['at'], { text, composition, handover }: Context) => {
    const grades = gradeContext(text, set.probes)
    const isSearched = at === 'default' && handovers.includes(contender)
    rows.push({
      contender,
      at,
      tokens: countTokens(text),
      characters: text.length,
      ...(composition ? { composition } : {}),
      ...(handover === undefined ? {} : { handover }),
      ...(isSearched ? { search: await oneSearch(found, text, set.probes) } : {}),
      score: meanScore(grades),
      weighted: weightedMean(grades),
      grades,
    })
  }
  for (const [name, contextOf] of Object.entries(references))
    await grade(name, 'as it is', { text: contextOf(found, answers) })
  const size = countTokens(recordedContext(found))
  for (const [name, contextOf] of Object.entries(contenders)) {
    for (const at of limits) {
      const limit: Limit = at === 'recorded' ? size : at
      await grade(name, at ?? 'default', await contextOf(found, limit, answers))
    }
  }
  return { name: set.name, probes: set.probes.length, rows }
}

type Showing = { readonly show: string; readonly contender: string; readonly limit?: string | undefined }

async function show(all: readonly Found[], { show: name, contender, limit }: Showing): Promise<void> {
  const one = all.find(({ set }) => set.name === name)
  if (!one) throw new Error(`There is no case ${name}.`)
  const { answers } = one.set
  const tokens =
    limit === 'recorded' ? countTokens(recordedContext(one.found)) : limit === undefined ? undefined : Number(limit)
  const text =
    references[contender]?.(one.found, answers) ?? (await contenders[contender]?.(one.found, tokens, answers))?.text
  if (text === undefined) throw new Error(`There is no contender ${contender}.`)
  console.log(text)
  for (const { id, score } of gradeContext(text, one.set.probes).filter((grade) => grade.score < 1)) {
    const probe = one.set.probes.find((candidate) => candidate.id === id)
    console.error(`${score} ${probe?.kind} (${probe?.weight}) ${probe?.question}\n    ${probe?.answer}`)
  }
}
