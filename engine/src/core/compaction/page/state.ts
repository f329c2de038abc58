// Where the work stands, as far as code can tell for certain. What may have changed since it was seen is left out or said
// to be uncertain: a wrong state makes the next agent repeat or undo work.

import type { CommandFact, Commit, Ledger, RepositoryFact, Todo } from '../../ledger/facts.ts'
import { oneLine } from '../../ledger/text.ts'
import { groupBy } from '../../message/group-by.ts'
import { neutralize } from '../../text/neutralize.ts'

export type StateInput = {
  readonly ledger: Ledger
  /** What the workspace says of itself right now. It replaces what outputs showed earlier. */
  readonly workspace?: string | undefined
  /** What the context already says. */
  readonly shown: string
}

const mostCommands = 5
const mostCommits = 20

/** Lines for the section, without its heading; none when nothing is known. */
export function stateLines({ ledger, workspace, shown }: StateInput): readonly string[] {
  const { commits, repository, todos } = ledger
  const verifying = ledger.commands.filter(({ ended }) => ended !== 'unfinished').slice(-mostCommands)
  const running = ledger.commands.filter(({ ended }) => ended === 'unfinished').slice(-mostCommands)
  return [
    ...(workspace === undefined
      ? [...folderLines(ledger, shown), ...repositoryLines(repository), ...uncommittedLines(ledger)]
      : [workspace]),
    ...commitLines(commits.filter(({ hash }) => !shown.includes(hash)).slice(-mostCommits), repository),
    ...(workspace === undefined ? unpushedLines(commits, repository) : []),
    ...(todos.length === 0 ? [] : ['Todo list:', ...todos.map(todoLine)]),
    ...verifyingLines(verifying, ledger),
    ...running.map(({ text }) => `- Started and not seen to end: ${code(text)}`),
  ]
}

/** Paths inside it are told as seen from there. */
function folderLines({ root = '' }: Ledger, shown: string): readonly string[] {
  return root === '' || shown.includes(root) ? [] : [`The session started in ${neutralize(oneLine(root, 200))}.`]
}

function repositoryLines(repository: RepositoryFact): readonly string[] {
  const { branch, staged, unstaged, untracked, statusLast, touchedLast } = repository
  const lines = branch === undefined ? [] : [`Branch: ${neutralize(oneLine(branch, 100))}.`]
  if (statusLast < 0 || touchedLast >= statusLast) return lines
  const lists = [list('staged', staged), list('not staged', unstaged), list('untracked', untracked)]
  const told = lists.filter((part) => part !== '').join('; ')
  return [...lines, `Working tree: ${told === '' ? 'clean' : told}.`]
}

const mostUncommitted = 12

/** What the agent changed since it last committed. Somebody else may have committed it. */
function uncommittedLines({ files, commits, repository, root }: Ledger): readonly string[] {
  const committed = Math.max(repository.gitLast, ...commits.map(({ last }) => last))
  if (commits.length === 0) return []
  const changed = files.filter(({ last }) => last > committed).map(({ path }) => relative(path, root))
  const more = changed.length > mostUncommitted ? ` and ${changed.length - mostUncommitted} more` : ''
  return changed.length === 0
    ? []
    : [
        `Changed since the last commit and not seen to be committed: ${changed.slice(-mostUncommitted).join(', ')}${more}.`,
      ]
}

/** As somebody in the working folder would name it. */
function relative(path: string, root: string | undefined): string {
  const isInside = root !== undefined && root !== '' && path.startsWith(`${root}/`)
  return neutralize(oneLine(isInside ? path.slice(root.length + 1) : path, 120))
}

function list(name: string, paths: readonly string[]): string {
  return paths.length === 0 ? '' : `${name}: ${paths.map((path) => neutralize(oneLine(path, 120))).join(', ')}`
}

function commitLines(commits: readonly Commit[], { pushedLast }: RepositoryFact): readonly string[] {
  if (commits.length === 0) return []
  const line = ({ hash, title, last }: Commit) =>
    `- ${hash} "${neutralize(oneLine(title, 160))}"${last <= pushedLast ? ' (pushed)' : ''}`
  return ['Commits made in this session:', ...commits.map(line)]
}

const mostUnpushed = 6

/** Whether the context tells these commits or not: that nobody else has them yet is easily left out. */
function unpushedLines(commits: readonly Commit[], { pushedLast }: RepositoryFact): readonly string[] {
  const hashes = commits.filter(({ last }) => last > pushedLast).map(({ hash }) => hash)
  const more = hashes.length > mostUnpushed ? ` and ${hashes.length - mostUnpushed} older` : ''
  return hashes.length === 0 ? [] : [`Not seen to be pushed: ${hashes.slice(-mostUnpushed).join(', ')}${more}.`]
}

const marks = { done: 'x', 'in-progress': '~', pending: ' ' } as const

function todoLine({ text, status }: Todo): string {
  const is = status === 'in-progress' ? ' (in progress)' : ''
  return `- [${marks[status]}] ${neutralize(oneLine(text, 240))}${is}`
}

/** Under a line that says what changed since: once for all runs that it is true of. */
function verifyingLines(commands: readonly CommandFact[], ledger: Ledger): readonly string[] {
  const groups = groupBy(commands, (command) => `Commands that verify the work${changesSince(command, ledger)}:`)
  return [...groups].flatMap(([lead, group]) => [lead, ...group.map(commandLine)])
}

const mostChanged = 4

function changesSince({ last }: CommandFact, { files, repository, root }: Ledger): string {
  const changed = files.filter((file) => file.last > last).map(({ path }) => relative(path, root))
  const more = changed.length > mostChanged ? ` and ${changed.length - mostChanged} more files` : ''
  if (changed.length > 0) return `, not run since these changed (${changed.slice(-mostChanged).join(', ')}${more})`
  return repository.touchedLast > last ? '' : '; nothing changed since they ran'
}

function commandLine({ text, ended, exit, outcome, time }: CommandFact): string {
  const result = ended === 'well' ? 'passed' : `failed${exit === undefined ? '' : ` (exit ${exit})`}`
  const said = outcome === '' ? '' : `, "${neutralize(oneLine(outcome, 200))}"`
  const when = time === undefined ? '' : ` at ${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return `- ${code(text)} ${result}${when}${said}`
}

/** Foreign text in marks that it cannot close. */
function code(text: string): string {
  return `\`${neutralize(oneLine(text, 600)).replaceAll('`', "'")}\``
}
