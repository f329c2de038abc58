// Tool calls and their results: files touched, commands run, errors and what fixed them, todos, the user's answers.
import { type ToolResultBlock, type ToolUseBlock, textOf } from '../message/block.ts'
import { dropOldest } from '../message/drop-oldest.ts'
import { arrayAt, numberAt, objectAt, stringAt } from '../message/json.ts'
import { pathIn } from '../message/tool-names.ts'
import {
  behindPipe,
  commandText,
  endingOf,
  isReadOnly,
  mayChange,
  outcomeLine,
  programOf,
  purposeOf,
} from './commands.ts'
import { noteError, settle } from './errors.ts'
import type { Lines, Step } from './facts.ts'
import { readGit } from './repository.ts'
import { filesInScript } from './script-files.ts'
import { type Call, caps, noteFile, type State } from './state.ts'
import { type CommandOutcome, stepOf } from './steps.ts'
import { oneLine } from './text.ts'
import { applyTodo } from './todos.ts'
import { askedLines, commandOf, patchedFiles, patchOf, toolKind, urlOf } from './tools.ts'
import { type Words, wordsInResult } from './user-words.ts'

export function noteCall(state: State, block: ToolUseBlock): void {
  state.calls.set(block.id, { kind: toolKind(block.name, block.input), block })
  dropOldest(state.calls, caps.calls)
}

export type ResultContext = { readonly raw: unknown; readonly time?: number | undefined }

/** Reads a result into the ledger; returns what the user said in it. */
export function noteResult(
  state: State,
  block: ToolResultBlock,
  { raw, time }: ResultContext,
): { readonly words: readonly Words[]; readonly step?: Step | undefined } {
  const call = state.calls.get(block.tool_use_id)
  state.calls.delete(block.tool_use_id)
  const text = textOf(block.content)
  const words = wordsInResult(text, { call: call?.block, isError: block.is_error === true, raw })
  if (!call || words.some(({ kind }) => kind === 'rejection')) return { words }
  const isError = block.is_error === true || text.startsWith('<tool_use_error>')
  const result = { call, text, raw, time }
  const request = state.exchanges
    .slice(-requestsInForce)
    .map((exchange) => exchange.text)
    .join('\n')
  const seen = { text, isError, request, root: state.root }
  if (call.kind === 'command') {
    const command = noteCommand(state, { ...result, isError })
    return { words, step: stepOf(call.block, { ...seen, ...(command ? { command } : {}) }) }
  }
  // Nobody knows what it changed before it ended, or failed.
  if (call.kind === 'agent' || call.kind === 'other') touch(state)
  if (isError) noteToolError(state, call, text)
  else {
    settle(state, topicOf(call))
    readResult(state, result)
  }
  return { words, step: stepOf(call.block, seen) }
}

/** A command that the user named shows what they want also when they only say "go on" later. */
const requestsInForce = 10

type Result = ResultContext & { readonly call: Call; readonly text: string }

function topicOf({ block }: Call): string {
  return `${block.name} ${pathIn(block.input) ?? urlOf(block.input) ?? ''}`.trim()
}

function noteToolError(state: State, call: Call, text: string): void {
  const line = oneLine(text.replace(/<\/?tool_use_error>/g, ''), 200)
  noteError(state, { what: oneLine(topicOf(call), 240), line, topic: topicOf(call) })
}

function readResult(state: State, result: Result): void {
  const { call, text, raw } = result
  const { input } = call.block
  const path = stringAt(raw, 'filePath') ?? pathIn(input)
  switch (call.kind) {
    case 'read':
      readFile(state, result)
      break
    case 'edit':
      if (path) noteFile(state, path, { act: 'edited', changed: patchedLines(raw) })
      break
    case 'write':
      if (path) noteFile(state, path, writeNews(result))
      break
    case 'patch':
      for (const file of patchedFiles(patchOf(input))) noteFile(state, file.path, { act: file.act })
      break
    case 'search':
      for (const found of filesInSearch(text)) noteFile(state, found, { act: 'searched' })
      break
    case 'todo':
      applyTodo(state, { input, text, raw })
      break
  }
}

function touch(state: State): void {
  state.repository = { ...state.repository, touchedLast: state.messages }
}

function readFile(state: State, { call, raw }: Result): void {
  const path = pathIn(call.block.input)
  if (!path) return
  const file = objectAt(raw, 'file')
  const shown = numberAt(file, 'numLines')
  const start = numberAt(file, 'startLine') ?? 1
  noteFile(state, path, {
    act: 'read',
    seen: shown === undefined ? askedLines(call.block.input) : [start, start + Math.max(1, shown) - 1],
    lines: numberAt(file, 'totalLines'),
  })
}

function patchedLines(raw: unknown): readonly Lines[] {
  return arrayAt(raw, 'structuredPatch')
    .map((hunk): Lines | undefined => {
      const start = numberAt(hunk, 'newStart')
      return start === undefined ? undefined : [start, start + Math.max(1, numberAt(hunk, 'newLines') ?? 1) - 1]
    })
    .filter((lines) => lines !== undefined)
}

/** New only where the result says so: a file that nobody looked at may have existed. */
function writeNews({ call, text, raw }: Result) {
  const { input } = call.block
  const content = stringAt(input, 'content') ?? stringAt(input, 'file_text')
  const isNew = stringAt(raw, 'type') === 'create' || /^(?:new )?file created\b/i.test(text)
  return {
    act: isNew ? 'created' : 'written',
    lines: content === undefined ? undefined : content.split('\n').length,
  } as const
}

const longestSearch = 200_000

/** Matches name their file at the start of the line. */
function filesInSearch(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const line of text.slice(0, longestSearch).split('\n')) {
    const path = /^([^\s:]{1,400}\.\w{1,20})[:-]\d+[:-]/.exec(line)?.[1]
    if (path !== undefined) found.add(path)
  }
  return found
}

function noteCommand(
  state: State,
  { call, text, raw, time, isError }: Result & { readonly isError: boolean },
): CommandOutcome | undefined {
  const command = commandOf(call.block.input)
  if (command === '') return undefined
  const line = commandText(command)
  const purpose = purposeOf(line)
  const verifies = purpose !== 'other' && purpose !== 'git'
  const reported = endingOf(text, { isError, raw })
  const ending = verifies && command.includes('|') ? behindPipe(reported) : reported
  const isBad = ending.ended === 'badly'
  const outcome = outcomeLine(ending.output, isBad)
  state.commands.delete(line) // Set again, so that the latest run is last.
  if (verifies || ending.ended === 'unfinished') {
    state.commands.set(line, {
      text: line,
      purpose,
      last: state.messages,
      ...(time === undefined ? {} : { time }),
      ...(ending.exit === undefined ? {} : { exit: ending.exit }),
      ended: ending.ended,
      outcome,
    })
  }
  // Another command of the same program says nothing about this one.
  const topic = `$ ${line}`
  if (isBad && !isEmptyAnswer(line, ending.output)) noteError(state, { what: line, line: outcome, topic })
  if (ending.ended === 'well') settle(state, topic)
  if (!isBad) noteScriptFiles(state, command)
  if (mayChange(command)) touch(state)
  if (ending.ended === 'well') {
    if (/\bgit\b/.test(command) && !isReadOnly(command)) {
      state.repository = { ...state.repository, gitLast: state.messages }
    }
    noteRepository(state, command, ending.output)
  }
  return { ended: ending.ended, outcome }
}

/** Searches and comparisons that find nothing exit with 1: an answer, not an error. */
function isEmptyAnswer(line: string, output: string): boolean {
  return (
    /^(?:grep|rg|ag|diff|cmp|test|\[|which|pgrep|git diff)\b/.test(programOf(line)) &&
    !/\w+:/.test(output.slice(0, 400))
  )
}

function noteScriptFiles(state: State, command: string): void {
  for (const { path, whole, act, seen } of filesInScript(command)) {
    // The folder is used only to find a file that is known by its full path.
    noteFile(state, whole !== undefined && state.files.has(whole) ? whole : path, { act, seen })
  }
}

function behindStatus(command: string): string {
  const asked = [...command.matchAll(/\bgit (?:-[cC] \S+ |--\S+ )*status\b[^;&|\n]*/g)].at(-1)
  return asked === undefined ? command : command.slice(asked.index + asked[0].length)
}

function noteRepository(state: State, command: string, output: string): void {
  const news = readGit(command, output)
  if (!news) return
  const now = state.messages
  state.repository = {
    ...state.repository,
    ...(news.branch === undefined ? {} : { branch: news.branch }),
    ...(news.lists ? { ...news.lists, statusLast: now } : {}),
    // What the script did before it asked for the state is in it; what it did behind that is not.
    ...(news.lists && !mayChange(behindStatus(command))
      ? { touchedLast: Math.min(state.repository.touchedLast, now - 1) }
      : {}),
    ...(news.commits.length > 0 && !news.lists ? { touchedLast: now } : {}),
    ...(news.pushed ? { pushedLast: now } : {}),
  }
  if (news.commits.length > 0 && /\bcommit\b[^\n;&|]*--amend\b/.test(command)) forgetLatest(state.commits)
  for (const commit of news.commits) state.commits.set(commit.hash, { ...commit, last: now })
}

/** An amended commit takes the place of the one before it. */
function forgetLatest(commits: State['commits']): void {
  const latest = [...commits.keys()].at(-1)
  if (latest !== undefined) commits.delete(latest)
}
