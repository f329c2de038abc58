// Facts as lines that say what they are. Every line stands alone; nothing in it can start a line of its own.
import type {
  CommandFact,
  Commit,
  ErrorFact,
  FileFact,
  Ledger,
  Lines,
  RepositoryFact,
  Saying,
  Todo,
  UrlFact,
} from './facts.ts'
import { cut, oneLine } from './text.ts'

const longestLine = 480

function line(text: string): string {
  return `- ${oneLine(text, longestLine)}`
}

/** Foreign words in marks that they cannot close. */
function quoted(text: string): string {
  return `\`${oneLine(text, 320).replaceAll('`', "'")}\``
}

export function constraintLine({ text, by, uuid }: Saying): string {
  const who = by === 'human' ? '' : 'another agent: '
  return line(`${who}"${oneLine(text, 400)}"${uuid === undefined ? '' : ` [${uuid.slice(0, 8)}]`}`)
}

export function decisionLine({ text, by }: Saying): string {
  return line(`${by}: "${oneLine(text, 320)}"`)
}

const marks = { done: 'x', 'in-progress': '~', pending: ' ' }

export function todoLine({ text, status }: Todo): string {
  return line(`[${marks[status]}] ${oneLine(text, 240)}`)
}

export function commandLine(fact: CommandFact): string {
  const verifies = fact.purpose === 'other' || fact.purpose === 'git' ? '' : `${fact.purpose}: `
  const failures =
    fact.failures.length === 0 ? '' : `; failed: ${fact.failures.map((name) => oneLine(name, 100)).join(', ')}`
  return line(`${verifies}${quoted(fact.text)}${times(fact.runs)} → ${ending(fact)}${failures}`)
}

function ending(fact: CommandFact): string {
  const said = fact.outcome === '' ? '' : `: ${oneLine(fact.outcome, 160)}`
  if (fact.ended === 'unfinished') return `not finished when last seen${said}`
  if (fact.ended === 'badly') return `failed${fact.exit === undefined ? '' : ` (exit ${fact.exit})`}${said}`
  return `ok${said}`
}

function times(count: number): string {
  return count > 1 ? ` ${count}×` : ''
}

export function errorLine(fact: ErrorFact): string {
  const fixed = fact.fix === undefined ? 'not seen to succeed since' : fixedBy(fact.fix)
  return line(`${quoted(cut(fact.what, 120))}${times(fact.times)}: ${oneLine(fact.line, 200)} → ${fixed}`)
}

function fixedBy(files: readonly string[]): string {
  return files.length === 0 ? 'worked later' : `worked after changing ${files.map(baseName).join(', ')}`
}

function baseName(path: string): string {
  return oneLine(path.slice(path.lastIndexOf('/') + 1), 80)
}

export function urlLine(fact: UrlFact): string {
  const how = { fetched: 'fetched', failed: 'could not be fetched', named: 'named', seen: 'seen in output' }[fact.how]
  return line(`${oneLine(fact.url, 300)} (${how}${times(fact.times)})`)
}

export function commitLine(fact: Commit, pushedLast: number): string {
  return line(`commit ${fact.hash} "${oneLine(fact.title, 160)}"${fact.last <= pushedLast ? ' (pushed)' : ''}`)
}

/** The commits are those of the session: made after the last look at the branch, they make that look an old one. */
export function repositoryLines(fact: RepositoryFact, commits: readonly Commit[] = []): readonly string[] {
  const looked = Math.max(fact.pushedLast, fact.statusLast)
  const since = commits.filter(({ last }) => last > looked).length
  const lines: string[] = []
  if (fact.branch !== undefined) {
    const tracking = fact.tracking?.branch === fact.branch ? fact.tracking : undefined
    const place = [
      tracking?.upstream === undefined ? '' : `tracks ${oneLine(tracking.upstream, 100)}`,
      unpushed(tracking?.ahead, since),
      tracking?.behind ? `${tracking.behind} behind` : '',
    ].filter((part) => part !== '')
    lines.push(line(`branch ${oneLine(fact.branch, 100)}${place.length === 0 ? '' : ` (${place.join(', ')})`}`))
  }
  if (fact.statusLast < 0) return lines
  const lists = [list('staged', fact.staged), list('not staged', fact.unstaged), list('untracked', fact.untracked)]
  const shown = lists.filter((part) => part !== '').join('; ')
  const isOld = fact.touchedLast > fact.statusLast ? ' (changed or committed since)' : ''
  return [...lines, line(`working tree as last shown${isOld}: ${shown === '' ? 'clean' : shown}`)]
}

function unpushed(ahead: number | undefined, since: number): string {
  if (since > 0) return `${since} ${since === 1 ? 'commit' : 'commits'} not seen pushed`
  if (ahead === undefined) return ''
  return ahead === 0 ? 'nothing unpushed when last seen' : `${ahead} unpushed when last seen`
}

function list(name: string, paths: readonly string[]): string {
  return paths.length === 0 ? '' : `${name} ${paths.map((path) => oneLine(path, 120)).join(', ')}`
}

export type FileShown = {
  /** As it is called on this page, where that is not the whole path. */
  readonly path?: string
  /** How many stretches of lines are told. */
  readonly ranges: number
}

/** Where the paths below begin that have no beginning of their own. */
export function folderLine(folder: string): string {
  return line(`paths below that begin with a name lie in ${oneLine(folder, 300)}`)
}

/** The file and what became of it; the names that matter in it come behind. */
export function fileHead(fact: FileFact, { path = fact.path, ranges: shown }: FileShown): string {
  const edits = fact.changes - (fact.created ? 1 : 0)
  const of = fact.lines === undefined ? '' : ` of ${fact.lines}`
  const acts = [
    fact.created ? 'created' : '',
    edits > 0 ? `changed${times(edits)}${fact.changed.length === 0 ? '' : ` at ${ranges(fact.changed, shown)}`}` : '',
    fact.reads > 0
      ? `read${times(fact.reads)}${isWhole(fact) || fact.seen.length === 0 ? '' : ` ${ranges(fact.seen, shown)}${of}`}`
      : '',
    fact.act === 'deleted' ? 'then deleted' : '',
    fact.changes === 0 && fact.reads === 0 ? 'in search results' : '',
  ]
  return `- ${oneLine(path, 400)} (${acts.filter((act) => act !== '').join('; ')})`
}

function isWhole(fact: FileFact): boolean {
  const last = fact.seen.at(-1)
  return last !== undefined && last[0] <= 1 && fact.lines !== undefined && last[1] >= fact.lines
}

/** The last few, those that touch made one, in the order of the file. */
function ranges(lines: readonly Lines[], shown: number): string {
  const merged: Lines[] = []
  for (const [from, to] of lines.slice(-shown).toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last && from <= last[1] + 1) merged[merged.length - 1] = [last[0], Math.max(last[1], to)]
    else merged.push([from, to])
  }
  return merged.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ')
}

/** Behind a heading of a place that is no file. */
export function homeHead(home: Ledger['names'][number]['home']): string {
  if (home.type === 'command') return `- in ${quoted(cut(home.name, 60))} and its output`
  if (home.type === 'file') return `- ${oneLine(home.name, 400)} (named)`
  switch (home.name) {
    case 'human':
      return '- in the human’s messages'
    case 'assistant':
      return '- in the assistant’s own words'
    case 'summary':
      return '- in the summary before'
    case 'agent':
      return '- in sub-agents’ tasks and reports'
    case 'context':
      return '- elsewhere in the context'
  }
}
