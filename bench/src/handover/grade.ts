// Grades a context against the probes of a case: questions that whoever continues the work would have to answer, with
// the elements of each answer as expressions. Nothing is asked of a model.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Probe = {
  readonly id: number
  readonly kind: string
  readonly weight: number
  readonly question: string
  readonly answer: string
  readonly elements: readonly { readonly what: string; readonly any: readonly string[] }[]
}

/** Answers to our summary request: of a strong model, and of an ordinary one. Empty if there is none. */
export type Answers = { readonly strong: string; readonly ordinary: string }

export type ProbeSet = { readonly name: string; readonly probes: readonly Probe[]; readonly answers: Answers }

export function readProbes(folder: string): readonly ProbeSet[] {
  const files = readdirSync(folder)
  return files
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      const name = file.slice(0, -'.json'.length)
      const probes: readonly Probe[] = JSON.parse(readFileSync(join(folder, file), 'utf8'))
      const answerIn = (file: string) => (files.includes(file) ? readFileSync(join(folder, file), 'utf8') : '')
      const answers = { strong: answerIn(`${name}.model.txt`), ordinary: answerIn(`${name}.ordinary.txt`) }
      return { name, probes, answers }
    })
}

/** The elements of an answer must be close together: within one passage of this many characters. */
const passage = 1_200

export type Grade = { readonly id: number; readonly kind: string; readonly weight: number; readonly score: 0 | 0.5 | 1 }

export function gradeContext(context: string, probes: readonly Probe[]): readonly Grade[] {
  return probes.map((probe) => ({
    id: probe.id,
    kind: probe.kind,
    weight: probe.weight,
    score: scoreOf(statedTogether(context, probe), probe.elements.length),
  }))
}

function scoreOf(stated: number, elements: number): Grade['score'] {
  if (stated === elements) return 1
  return stated * 2 >= elements ? 0.5 : 0
}

/** The largest number of elements that one passage states. */
function statedTogether(context: string, { elements }: Probe): number {
  const matches = elements.flatMap(({ any }, element) =>
    any.flatMap((source) => occurrences(context, source).map((match) => ({ ...match, element }))),
  )
  // A passage that states the most can always be moved so that it starts where one of the matches starts.
  let most = 0
  for (const { start } of matches) {
    const inside = matches.filter((match) => match.start >= start && match.end <= start + passage)
    most = Math.max(most, new Set(inside.map(({ element }) => element)).size)
  }
  return most
}

/** Every place where the expression matches, overlapping ones too: another start can have an earlier end. */
function occurrences(context: string, source: string): readonly { readonly start: number; readonly end: number }[] {
  const pattern = new RegExp(source, 'gi')
  const found: { start: number; end: number }[] = []
  for (let match = pattern.exec(context); match; match = pattern.exec(context)) {
    found.push({ start: match.index, end: match.index + match[0].length })
    pattern.lastIndex = match.index + 1
  }
  return found
}

export function meanScore(grades: readonly Grade[]): number {
  return grades.reduce((sum, { score }) => sum + score, 0) / Math.max(1, grades.length)
}

export function weightedMean(grades: readonly Grade[]): number {
  const weight = grades.reduce((sum, grade) => sum + grade.weight, 0)
  return grades.reduce((sum, grade) => sum + grade.score * grade.weight, 0) / Math.max(1, weight)
}

/** Which boundary of which transcript each case is about: the rows `| case | file | boundary |` of the folder's README. */
export function boundaries(folder: string): ReadonlyMap<string, { readonly file: string; readonly boundary: string }> {
  const rows = readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/^\| (\S+) \| (\S+) \| ([0-9a-f-]{36}) \|$/gm)
  return new Map([...rows].map(([, name = '', file = '', boundary = '']) => [name, { file, boundary }]))
}
