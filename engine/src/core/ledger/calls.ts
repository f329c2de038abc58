// Reads the results of tool calls: changed files, commands, errors and whether they were fixed, todos, the user's answers.

import { defined, numberAt, stringAt } from '../message/json.ts'
import { dropOldest } from '../message/maps.ts'
import { type ToolResultBlock, type ToolUseBlock, textOf, type ViewMessage } from '../message/message.ts'
import { oneLine } from '../text/neutralize.ts'
import { type ActionsRun, actionsOf } from '../tools/actions.ts'
import { changedBy, type ToolCall, toolCall } from '../tools/call.ts'
import {
  commandText,
  type Ending,
  endingOf,
  judgedByOutput,
  outcomeLine,
  programOf,
  reportingLines,
} from '../tools/commands.ts'
import type { Command } from '../tools/shell.ts'
import { mayChangeAnything, purposeOf, readScript, type Script } from '../tools/shell-effects.ts'
import type { CommandFact, Step } from './facts.ts'
import { noteGit } from './git.ts'
import { caps, commandKey, noteError, noteFile, noteFixed, noteTouched, notOurs, type State } from './state.ts'
import { type CommandRun, stepOf } from './steps.ts'
import { noteTodoCall } from './todos.ts'
import { type Words, wordsInResult } from './user-words.ts'

export function noteCall(state: State, block: ToolUseBlock): void {
  state.calls.set(block.id, toolCall(block))
  dropOldest(state.calls, caps.calls)
}

export type ResultContext = { readonly raw: unknown; readonly time?: number | undefined }
type Result = ResultContext & { readonly call: ToolCall; readonly text: string; readonly isError: boolean }

/** Reads a result into the ledger. Returns the user's words in it and the agent's step. */
export function noteResult(
  state: State,
  block: ToolResultBlock,
  { raw, time }: ResultContext,
): { readonly words: readonly Words[]; readonly step?: Step | undefined } {
  const call = state.calls.get(block.tool_use_id)
  state.calls.delete(block.tool_use_id)
  const text = textOf(block.content)
  const words = wordsInResult(text, { call, isError: block.is_error === true, raw })
  if (!call || words.some(({ kind }) => kind === 'rejection')) return { words }
  // Codex reports the result of a patch like that of a command: "Exit code: 1\nOutput:\nNo such line" → failed.
  const isFailedPatch = call.type === 'patch' && endingOf(text, { isError: false }).ended === 'badly'
  const isError = block.is_error === true || text.startsWith('<tool_use_error>') || isFailedPatch
  const result = { call, text, raw, time, isError }
  const run = call.type === 'command' ? noteCommand(state, { ...result, call }) : undefined
  if (call.type !== 'command') noteTool(state, result)
  const request = state.exchanges
    .slice(-requestsInForce)
    .map((exchange) => exchange.text)
    .join('\n')
  const step = stepOf(call, { text, isError, request, root: state.root, ...(run ? { run } : {}) })
  // After `make` failed and `npm test` ran, "The tests cover the hinge." is about `npm test` and does not explain `make`. After
  // a look or an edit, the next words may still explain the error.
  const isElsewhere = step?.type === 'did' && changedBy(call).length === 0
  if (isElsewhere && state.errors.get(state.unexplained ?? '')?.last !== state.messages) state.unexplained = undefined
  return { words, step }
}

/** Number of exchanges whose requests still apply: a file named in "Do what docs/plan.md says" still counts after "go on". */
const requestsInForce = 10

function noteTool(state: State, { call, text, raw, isError }: Result): void {
  if (call.type === 'agent') forgetFailures(state, () => true)
  if (call.type === 'other') forgetFailures(state, (action) => call.name.toLowerCase().includes(action))
  // The call may have changed any file, even if it failed.
  if (call.type === 'agent' || call.type === 'other') noteTouched(state)
  const url = call.type === 'fetch' ? call.url : undefined
  const what = oneLine(`${call.name} ${call.path ?? url ?? ''}`, 240)
  if (isError) {
    // "<tool_use_error>No such file</tool_use_error>" → "No such file"
    noteError(state, { what, line: oneLine(text.replace(/<\/?tool_use_error>/g, ''), 200) })
    return
  }
  noteFixed(state, (other) => other === what)
  if (call.type === 'edit' || call.type === 'write' || call.type === 'patch') noteTouched(state)
  const recorded = stringAt(raw, 'filePath')
  for (const path of changedBy(call)) noteFile(state, recorded ?? path)
  if (call.type === 'todo') noteTodoCall(state, call.change, { text, raw })
}

function noteCommand(
  state: State,
  { call, text, raw, time, isError }: Result & { readonly call: Extract<ToolCall, { type: 'command' }> },
): CommandRun | undefined {
  if (call.script === '') return undefined
  const script = readScript(call.script)
  const line = commandText(call.script)
  const purpose = purposeOf(script.commands)
  const verifies = purpose !== 'other' && purpose !== 'git'
  const reported = endingOf(text, { isError, raw })
  const actions = actionsOf(script.commands)
  // `npm test | tail` with "3 failed" and exit code 0 → ended badly: the code is that of `tail`.
  const isUnsure = call.script.includes('|') || reported.exit === undefined
  const ending = isUnsure && (verifies || actions.all.length > 0) ? judgedByOutput(reported, { verifies }) : reported
  const { exit, ended } = ending
  const outcome = outcomeLine(ownLines(state, script, ending), ended === 'badly')
  if (ending.task) state.background.set(ending.task, { line, verifies, actions })
  const run = { text: line, last: state.messages, ...defined({ time, exit }), ended, outcome }
  const late = numberAt(raw, 'timedOutAfterMs') === undefined ? {} : { isLate: true as const }
  noteRun(state, { ...run, ...(ending.task ? { isRunning: true, ...late } : {}) }, { actions, verifies })
  if (ended === 'badly') noteError(state, { what: line, line: outcome })
  if (ended === 'well') noteFixedBy(state, script, line)
  noteChanges(state, script, ending)
  return { script, line, purpose, ended, outcome }
}

/** Limits of the remembered output: of 201 lines that `npm test` printed, the last 200 are kept. */
const maxPrograms = 40
const maxLines = 200

/**
 * Returns the lines that are specific to how this run ended. Drops lines that the same program also printed when it last ended
 * the other way: if `lint` printed "Checked 4 files." when it passed, that line does not explain why it fails.
 */
function ownLines(state: State, { commands }: Script, { output, ended }: Ending): readonly string[] {
  const lines = reportingLines(output)
  const programs = commands.map((command) => programOf([command])).filter((program) => program !== '')
  const other = new Set(
    programs.flatMap((program) => state.printed.get(`${ended === 'badly' ? 'well' : 'badly'} ${program}`) ?? []),
  )
  const printed = lines.slice(-maxLines).map((line) => line.slice(0, maxLines))
  for (const program of ended === 'unfinished' ? [] : programs) {
    state.printed.delete(`${ended} ${program}`)
    state.printed.set(`${ended} ${program}`, printed)
  }
  dropOldest(state.printed, 2 * maxPrograms)
  return lines.filter((line) => !other.has(line.slice(0, maxLines)))
}

/**
 * Marks errors as fixed after a script succeeded: `tsc && lint src` fixes a failed `tsc`, and `lint` fixes a failed `lint src`.
 * `lint test` does not.
 */
function noteFixedBy(state: State, { commands }: Script, line: string): void {
  noteFixed(state, (what) => what === line || commands.some((command) => isCoveredBy(what, command)))
}

/** `lint` covers `lint src`, but not `lint src && tsc`. `cp` does not cover `cp a b`, because it verifies nothing. */
function isCoveredBy(what: string, command: Command): boolean {
  const text = commandText(command.text)
  const verifies = !['other', 'git'].includes(purposeOf([command]))
  return what === text || (verifies && what.startsWith(`${text} `) && !/[;&|]/.test(what))
}

const taskEnd = /\b(?:completed|finished|killed|failed|stopped|terminated|exited|exit code)\b/i

/** "Task b7f3a completed (exit code 1)" ends the background command b7f3a, badly. "Task b7f3a printed a line" does not. */
export function noteEnded(state: State, message: ViewMessage): void {
  if (state.background.size === 0 || message.origin === 'assistant') return
  const text = textOf(message.content).slice(0, maxNotice)
  for (const [task, { line, ...kind }] of state.background) {
    if (task.length < minTask || !text.includes(task) || !taskEnd.test(text)) continue
    state.background.delete(task)
    const known = state.commands.get(line)
    if (known?.isRunning !== true) continue
    const { isRunning, isLate, ...fact } = known
    const code = /\bexit(?:ed with)? code:? (-?\d{1,5})\b/i.exec(text)?.[1]
    const exit = code === undefined ? undefined : Number(code)
    const ended = exit === undefined ? 'unfinished' : exit === 0 ? 'well' : 'badly'
    noteRun(state, { ...fact, ...defined({ exit }), ended, outcome: '' }, kind)
    if (ended === 'well') noteFixed(state, (what) => what === line)
    else if (ended === 'badly') noteError(state, { what: line, line: `Exit code ${exit}, in the background` })
  }
}

const maxNotice = 4_000
/** A shorter id may appear in a text by chance: "12" in "12 tests completed". */
const minTask = 4

/** `sed -i s/a/b/ gate.ts` → gate.ts was changed; `cat gate.ts` → nothing. `make` may have changed anything. */
function noteChanges(state: State, { commands, files }: Script, { ended, output }: Ending): void {
  if (ended !== 'badly') {
    for (const { path, act } of files) if (act !== 'read' && act !== 'named') noteFile(state, path)
  }
  if (mayChangeAnything(commands)) noteTouched(state)
  if (ended === 'well') noteGit(state, commands, output)
}

/** "nothing to commit, working tree clean": git exits with 1, but nothing failed. */
const nothingToDo = /nothing (?:added )?to commit|no changes added to commit|working tree clean/i

type Kind = { readonly actions: ActionsRun; readonly verifies: boolean }

/**
 * Keeps the latest test, build, push or deployment, so that claims of success can be compared with it: `npm test` and `git
 * push` are kept, `ls` is not. If `npm test` passed and now has 3 failures, it is kept as failed, with `hasSucceeded`.
 */
function noteRun(state: State, run: CommandFact, { actions: { all, blamed }, verifies }: Kind): void {
  const { ended, outcome, isRunning } = run
  if (!verifies && all.length === 0 && !isRunning) return void state.commands.delete(run.text)
  if (ended === 'badly' && notOurs.test(outcome)) return
  const fact = { ...run, ...(all.length === 0 ? {} : { actions: all }) }
  const key = commandKey(fact)
  const before = state.commands.get(key)
  const hasSucceeded = ended !== 'well' && (before?.ended === 'well' || before?.hasSucceeded === true)
  const hasFailed = ended === 'badly' && blamed !== undefined && !nothingToDo.test(outcome)
  // Deleted first, so that the latest run is last.
  for (const old of [run.text, key]) state.commands.delete(old)
  state.commands.set(key, {
    ...fact,
    ...(hasFailed ? { failed: blamed } : {}),
    ...(hasSucceeded ? { hasSucceeded } : {}),
  })
}

/**
 * `git push` failed, then a sub-agent or the tool `mcp__git__push` ran → the push may have succeeded since, so the failure is
 * dropped.
 */
function forgetFailures(state: State, mayHaveDone: (action: string) => boolean): void {
  for (const [key, { failed, ...fact }] of state.commands)
    if (failed !== undefined && mayHaveDone(failed)) state.commands.set(key, fact)
}
