// Where the work stands, as far as code can tell for certain. What may have changed since it was seen is left out or said
// to be uncertain: a wrong state makes the next agent repeat or undo work.
import type { CommandFact, Commit, Ledger, RepositoryFact, Todo } from '../../ledger/facts.ts'
import { oneLine } from '../../ledger/text.ts'
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
    ...(workspace === undefined ? [...repositoryLines(repository), ...uncommittedLines(ledger)] : [workspace]),
    ...commitLines(commits.filter(({ hash }) => !shown.includes(hash)).slice(-mostCommits), repository),
    ...(todos.length === 0 ? [] : ['Todo list:', ...todos.map(todoLine)]),
    ...(verifying.length === 0
      ? []
      : ['Commands that verify the work:', ...verifying.map((command) => commandLine(command, ledger))]),
    ...running.map(({ text }) => `- Started and not seen to end: ${code(text)}`),
  ]
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

const marks = { done: 'x', 'in-progress': '~', pending: ' ' } as const

function todoLine({ text, status }: Todo): string {
  const is = status === 'in-progress' ? ' (in progress)' : ''
  return `- [${marks[status]}] ${neutralize(oneLine(text, 240))}${is}`
}

const mostChanged = 4

function commandLine(command: CommandFact, { files, repository, root }: Ledger): string {
  const { text, ended, exit, outcome, last, time } = command
  const result = ended === 'well' ? 'passed' : `failed${exit === undefined ? '' : ` (exit ${exit})`}`
  const said = outcome === '' ? '' : `, "${neutralize(oneLine(outcome, 200))}"`
  const when = time === undefined ? '' : ` at ${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const changed = files.filter((file) => file.last > last).map(({ path }) => relative(path, root))
  const more = changed.length > mostChanged ? ` and ${changed.length - mostChanged} more files` : ''
  const since =
    changed.length > 0
      ? `. Changed since: ${changed.slice(-mostChanged).join(', ')}${more}`
      : repository.touchedLast > last
        ? '. Other commands ran since and may have changed something'
        : '. Nothing changed since'
  return `- ${code(text)} ${result}${when}${said}${since}.`
}

/** Foreign text in marks that it cannot close. */
function code(text: string): string {
  return `\`${neutralize(oneLine(text, 600)).replaceAll('`', "'")}\``
}
