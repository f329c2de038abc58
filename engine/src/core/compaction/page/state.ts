// The current state of the work, as far as code can be certain. A fact that may be outdated is left out or marked as uncertain,
// because a wrong state makes the next agent repeat or undo work.
import type { CommandFact, Commit, Exchange, Ledger, RepositoryFact, Todo } from '../../ledger/facts.ts'
import { interrupted } from '../../ledger/steps.ts'
import { isTyped, questionIn } from '../../ledger/user-words.ts'
import { olderRulesLine } from '../../prompts/recall.ts'
import type { TokenLimit } from '../../text/cut.ts'
import { neutralize, oneLine } from '../../text/neutralize.ts'
import { holdsWords, linesWithin, plainWords } from '../../text/plain-words.ts'
import { checks } from '../../tools/actions.ts'
import { purposeOf, readScript } from '../../tools/shell-effects.ts'
import { type ActionFact, latestActions } from './action-claims.ts'
import { isStarted } from './complete-words.ts'
import { createIsSaid } from './said.ts'

export type StateInput = {
  readonly ledger: Ledger
  /** The state of the workspace right now. It replaces what outputs showed earlier. */
  readonly workspace?: string | undefined
  /** Text that the context already has. */
  readonly shown: string
  /** The first message since the last compaction. Requests that were open before it are not listed. */
  readonly since?: number
}

const most = { commands: 5, commits: 20, uncommitted: 12, changed: 3, open: 5 } as const

/** The lines of the section, without its heading. Empty if nothing is known. */
export function stateLines({ ledger, workspace, shown, since = 0 }: StateInput): readonly string[] {
  const { commands, commits, exchanges, repository, root = '', todos, todosLast = Number.POSITIVE_INFINITY } = ledger
  const runs = latestRuns(commands.filter(({ ended }) => ended !== 'unfinished')).slice(-most.commands)
  const spokenSince = (time: number) => exchanges.filter((exchange) => exchange.last > time && isTyped(exchange)).length
  // `npm run dev` was started in the background and may still run. `curl …` exceeded its time limit, and counts as ended once
  // the user speaks again.
  const running = commands.filter(({ isRunning, isLate, last }) => isRunning && !(isLate && spokenSince(last) > 0))
  // The marks may be outdated, so the heading says how old they are: "Todo list, last changed before the user’s latest 2
  // messages:"
  const newer = spokenSince(todosLast)
  const age =
    newer === 0 ? '' : `, last changed before the user’s latest ${newer === 1 ? 'message' : `${newer} messages`}`
  const failed = latestActions(commands).filter(({ ended, last }) => ended === 'badly' && last > todosLast)
  const isSeen = workspace === undefined
  // A summary often leaves out whether its commits were pushed; the workspace knows.
  const listed = isSeen ? commits : commits.filter(({ hash }) => !shown.includes(hash))
  return [
    ...(isSeen && root !== '' && !shown.includes(root) ? [`The session started in ${line(root, 200)}.`] : []),
    ...(isSeen ? [...repositoryLines(repository), ...uncommittedLines(ledger)] : [workspace]),
    ...under('Commits made in this session:', listed.slice(-most.commits), (commit) =>
      commitLine(commit, { repository, isSeen }),
    ),
    ...under(`Todo list${age}:`, todos, (todo) => todoLine(todo, failed)),
    ...under('Commands that verify the work:', runs, (run) => `${commandLine(run)}${sinceText(run, ledger)}`),
    ...running.slice(-most.commands).map(({ text }) => `- Started and not seen to end: ${code(text)}`),
    ...openLines(ledger, since),
    // A summary has sections on the current work and the next step.
    ...(shown === '' ? currentLines(ledger) : []),
  ]
}

/** Where the work stopped: `Not finished: "Fix the gate." The agent’s last step: ran \`npm test\` → failed: 3 failed` */
function currentLines({ exchanges, isAnswered }: Ledger): readonly string[] {
  const { text = '', steps = [] } = exchanges.at(-1) ?? {}
  const step = steps.findLast(({ type }) => type !== 'read')
  if (isAnswered || !step || step.text === interrupted) return []
  return [`Not finished: "${line(text, 120)}" The agent’s last step: ${line(step.text, 160)}`]
}

function under<T>(lead: string, items: readonly T[], text: (item: T) => string): readonly string[] {
  return items.length === 0 ? [] : [lead, ...items.map(text)]
}

function line(text: string, longest: number): string {
  return neutralize(oneLine(text, longest))
}

/** Puts foreign text between backticks, and replaces its own backticks so that it cannot close them. */
function code(text: string): string {
  return `\`${line(text, 600).replaceAll('`', "'")}\``
}

/** The newest items, and the number of the others: "b.ts, c.ts, d.ts and 1 more". */
function newest(items: readonly string[], count: number, rest: string): string {
  const more = items.length > count ? ` and ${items.length - count} ${rest}` : ''
  return `${items.slice(-count).join(', ')}${more}`
}

/**
 * "Branch: main.", "Working tree: staged: b.ts; untracked: c.ts." The working tree is shown only if nothing can have changed it
 * since.
 */
function repositoryLines({ branch, staged, unstaged, untracked, statusLast, touchedLast }: RepositoryFact) {
  const lines = branch === undefined ? [] : [`Branch: ${line(branch, 100)}.`]
  if (statusLast < 0 || touchedLast >= statusLast) return lines
  const lists = { staged, 'not staged': unstaged, untracked }
  const shown = Object.entries(lists).flatMap(([name, paths]) =>
    paths.length === 0 ? [] : [`${name}: ${paths.map((path) => line(path, 120)).join(', ')}`],
  )
  return [...lines, `Working tree: ${shown.length === 0 ? 'clean' : shown.join('; ')}.`]
}

/** The files that the agent changed since the last commit. Somebody else may have committed them. */
function uncommittedLines(ledger: Ledger): readonly string[] {
  const { commits, repository } = ledger
  if (commits.length === 0) return []
  const changed = changedSince(Math.max(repository.gitLast, ...commits.map(({ last }) => last)), ledger)
  if (changed.length === 0) return []
  return [`Changed since the last commit and not seen to be committed: ${newest(changed, most.uncommitted, 'more')}.`]
}

/** The files changed after `time`, with paths relative to the session's folder: "/p/src/a.ts" → "src/a.ts" in /p. */
function changedSince(time: number, { files, root = '' }: Ledger): readonly string[] {
  const inside = (path: string) => (root !== '' && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path)
  return files.filter(({ last }) => last > time).map(({ path }) => line(inside(path), 120))
}

/** `- 8f3c2a1 "Open the gate" (pushed)` */
function commitLine(
  { hash, title, last }: Commit,
  { repository, isSeen }: { readonly repository: RepositoryFact; readonly isSeen: boolean },
): string {
  const open = isSeen ? ' (not seen to be pushed)' : ''
  return `- ${hash} "${line(title, 160)}"${last <= repository.pushedLast ? ' (pushed)' : open}`
}

const marks = { done: 'x', 'in-progress': '~', pending: ' ' } as const

/** `- [x] Run the tests (failed since: \`npm test\`)`, `- [~] Paint the gate (in progress)` */
function todoLine({ text, status }: Todo, failedSince: readonly ActionFact[]): string {
  const isAbout = ({ action }: ActionFact) => checks.has(action) && new RegExp(`\\b${action}`, 'i').test(text)
  const about = status === 'done' ? failedSince.find(isAbout) : undefined
  const mark = status === 'in-progress' ? ' (in progress)' : about ? ` (failed since: ${code(about.text)})` : ''
  return `- [${marks[status]}] ${line(text, 240)}${mark}`
}

/**
 * The runs that verify something, without those that later ones repeat: `build && lint` is dropped after a later `lint` and a
 * later `build`.
 */
function latestRuns(runs: readonly CommandFact[]): readonly CommandFact[] {
  const repeated = new Set<string>()
  const kept = runs.toReversed().filter(({ text }) => {
    const parts = readScript(text)
      .commands.filter((command) => !['other', 'git'].includes(purposeOf([command])))
      .map(({ words }) => words.join(' '))
    const isOld = parts.every((part) => repeated.has(part))
    for (const part of parts) repeated.add(part)
    return !isOld
  })
  return kept.toReversed()
}

/** "- `npm test` failed (exit 1) at 2026-01-02 03:04 UTC, "3 failed"" */
function commandLine({ text, ended, exit, outcome, time }: CommandFact): string {
  const result = ended === 'well' ? 'passed' : `failed${exit === undefined ? '' : ` (exit ${exit})`}`
  const when = time === undefined ? '' : ` at ${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const said = outcome === '' ? '' : `, "${line(outcome, 200)}"`
  return `- ${code(text)} ${result}${when}${said}`
}

/** " (not run since these changed: a.ts)" or " (nothing changed since)"; empty if a command may have changed something. */
function sinceText({ last }: CommandFact, ledger: Ledger): string {
  const changed = changedSince(last, ledger)
  if (changed.length > 0) return ` (not run since these changed: ${newest(changed, most.changed, 'more')})`
  return ledger.repository.touchedLast <= last ? ' (nothing changed since)' : ''
}

/** Messages without a reply, interrupted requests, and the agent's unanswered question. */
function openLines({ exchanges, isAnswered }: Ledger, since: number): readonly string[] {
  const said = (exchange: Exchange) => `- "${line(exchange.text, 240)}"`
  const current = exchanges.filter(({ last }) => last >= since)
  const passed = current.filter((exchange, at) => isPassedOver(exchange, current[at + 1])).slice(-most.open)
  const open = passed.filter((exchange) => !isDealtWith(exchange, current.slice(current.indexOf(exchange) + 1)))
  const stopped = current.filter(({ steps = [] }, at) => steps.at(-1)?.text === interrupted && at < current.length - 1)
  const question = (isAnswered && questionIn(exchanges.at(-1)?.report ?? '')) || ''
  return [
    ...under('Said right before another message, without a reply of its own:', open, said),
    ...under('Interrupted by the user before the agent was done:', stopped.slice(-most.open), said),
    ...(question === '' ? [] : [`The agent’s last question, which the user has not answered: ${line(question, 400)}`]),
  ]
}

/** "Paint it." right before "Oil it." was passed over; before "Paint it, and oil it.", which extends it, it was not. */
export function isPassedOver(exchange: Exchange, next: Exchange | undefined): boolean {
  if (next === undefined || exchange.text === '' || !isTyped(exchange)) return false
  const isExtended = holdsWords(plainWords(next.text), plainWords(exchange.text).trimEnd())
  return !isStarted(exchange) && exchange.steps === undefined && !isExtended
}

/**
 * "Remove the gate_tests again" is dealt with by a later message ("remove the useless gate_tests again") or report ("Removed the
 * gate_tests.").
 */
function isDealtWith({ text }: Exchange, later: readonly Exchange[]): boolean {
  return createIsSaid(later.map((exchange) => `${exchange.text}\n\n${exchange.report ?? ''}`).join('\n\n'))(text)
}

export type RulesOptions = TokenLimit & { readonly shown: string; readonly recall: boolean }

/**
 * `- "Never push."`, oldest first, unless the context has it. If not all fit, the newest stay, and a line gives the number of
 * the others and how to find them.
 */
export function ruleLines({ rules, olderRules = 0 }: Ledger, options: RulesOptions): readonly string[] {
  const { shown, recall } = options
  const plain = plainWords(shown)
  const missing = rules.filter(({ text }) => !holdsWords(plain, plainWords(text))).toSorted((a, b) => b.last - a.last)
  const lines = missing.map(
    ({ text, by }) => `- ${by === 'agent' ? '(from the agent that started this one) ' : ''}"${neutralize(text)}"`,
  )
  const kept = linesWithin(lines, options).toReversed()
  const gone = olderRules + missing.length - kept.length
  return gone === 0 ? kept : [olderRulesLine(gone, { recall }), ...kept]
}
