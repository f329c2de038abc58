// Tool calls and their results: files touched, commands run, errors and what put them right.
import { type ToolResultBlock, type ToolUseBlock, textOf } from '../message/block.ts'
import { dropOldest } from '../message/drop-oldest.ts'
import { arrayAt, isObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import { pathIn } from '../message/tool-names.ts'
import { caps } from './caps.ts'
import { noteCommand } from './command-results.ts'
import { commandText, programOf } from './commands.ts'
import { noteError, settle } from './errors.ts'
import type { Lines } from './facts.ts'
import { type Call, noteFile, noteNames, noteSaying, noteUrl, type State } from './state.ts'
import { oneLine } from './text.ts'
import { applyTodo } from './todos.ts'
import { askedLines, commandOf, patchedFiles, patchOf, toolKind, urlOf } from './tools.ts'

export function noteCall(state: State, block: ToolUseBlock): void {
  const call: Call = { kind: toolKind(block.name, block.input), name: block.name, input: block.input }
  state.calls.set(block.id, call)
  dropOldest(state.calls, caps.calls)
  noteNames(state, wordsOf(call.input), { ...homeOf(call), written: true })
}

/** The strings of an input as the assistant wrote them, and its numbers with their names: `timeout 120000`. */
function wordsOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (depth > 6) return ''
  if (Array.isArray(value)) return value.map((part) => wordsOf(part, depth + 1)).join('\n')
  if (!isObject(value)) return ''
  return Object.entries(value)
    .map(([key, part]) => {
      // Offsets and limits are told as ranges of the file.
      if (typeof part === 'number') return /offset|line/i.test(key) ? '' : `${key} ${part}`
      return wordsOf(part, depth + 1)
    })
    .join('\n')
}

function homeOf(call: Call): Pick<Parameters<typeof noteNames>[2], 'home' | 'homeRank'> {
  const path = call.kind === 'patch' ? patchedFiles(patchOf(call.input))[0]?.path : pathIn(call.input)
  switch (call.kind) {
    case 'edit':
    case 'write':
    case 'patch':
      return path ? { home: { type: 'file', name: path }, homeRank: 5 } : assistant
    case 'read':
      return path ? { home: { type: 'file', name: path }, homeRank: 3 } : assistant
    case 'command':
      return { home: { type: 'command', name: programOf(commandText(commandOf(call.input))) }, homeRank: 2 }
    case 'agent':
      return { home: { type: 'talk', name: 'agent' }, homeRank: 1 }
    default:
      return assistant
  }
}

const assistant = { home: { type: 'talk', name: 'assistant' }, homeRank: 1 } as const
const elsewhere = { home: { type: 'talk', name: 'context' }, homeRank: 0 } as const

export function noteResult(state: State, block: ToolResultBlock, raw: unknown): void {
  const call = state.calls.get(block.tool_use_id)
  state.calls.delete(block.tool_use_id)
  const text = textOf(block.content)
  const isError = block.is_error === true || text.startsWith('<tool_use_error>')
  if (!call) noteNames(state, text, elsewhere)
  else if (call.kind === 'command') noteCommand(state, { call, text, isError, raw })
  else if (isError) noteToolError(state, call, text)
  else {
    settle(state, topicOf(call))
    readResult(state, { call, text, raw })
  }
}

type Result = { readonly call: Call; readonly text: string; readonly raw: unknown }

function topicOf(call: Call): string {
  return `${call.name} ${pathIn(call.input) ?? urlOf(call.input) ?? ''}`.trim()
}

function noteToolError(state: State, call: Call, text: string): void {
  const url = urlOf(call.input)
  if (url !== undefined) noteUrl(state, url, 'failed')
  const words = text.replace(/<\/?tool_use_error>/g, '')
  noteNames(state, words, { ...homeOf(call), inError: true })
  const line = oneLine(words, 200)
  noteError(state, { what: oneLine(topicOf(call), 240), line, topic: topicOf(call) })
}

function readResult(state: State, result: Result): void {
  const { call, text, raw } = result
  const path = stringAt(raw, 'filePath') ?? pathIn(call.input)
  const url = urlOf(call.input)
  switch (call.kind) {
    case 'read':
      readFile(state, result)
      break
    case 'edit':
      if (path) {
        noteFile(state, path, { act: 'edited', changed: patchedLines(raw) })
        // Some clients show the place as it now reads.
        noteNames(state, withoutMargin(text), { home: { type: 'file', name: path }, homeRank: 4 })
      }
      break
    case 'write':
      if (path) noteFile(state, path, writeNews(result))
      break
    case 'patch':
      for (const file of patchedFiles(patchOf(call.input))) noteFile(state, file.path, { act: file.act })
      break
    case 'search':
      readSearch(state, text)
      break
    case 'fetch':
      if (url !== undefined) noteUrl(state, url, 'fetched')
      noteNames(state, text, elsewhere)
      break
    case 'todo':
      applyTodo(state, { input: call.input, text, raw })
      break
    case 'ask':
      readAnswers(state, raw)
      break
    case 'agent':
      noteNames(state, text, { home: { type: 'talk', name: 'agent' }, homeRank: 1 })
      break
    default:
      noteNames(state, text, { home: { type: 'command', name: call.name }, homeRank: 1 })
  }
}

function readFile(state: State, { call, text, raw }: Result): void {
  const path = pathIn(call.input)
  if (!path) {
    noteNames(state, text, elsewhere)
    return
  }
  const file = objectAt(raw, 'file')
  const shown = numberAt(file, 'numLines')
  const start = numberAt(file, 'startLine') ?? 1
  noteFile(state, path, {
    act: 'read',
    seen: shown === undefined ? askedLines(call.input) : [start, start + Math.max(1, shown) - 1],
    lines: numberAt(file, 'totalLines'),
  })
  noteNames(state, withoutMargin(text), { home: { type: 'file', name: path }, homeRank: 4 })
}

/** Line numbers in the margin are no names. */
function withoutMargin(text: string): string {
  return text.replace(/^ *\d+[→\t|]/gm, '')
}

function patchedLines(raw: unknown): readonly Lines[] {
  return arrayAt(raw, 'structuredPatch')
    .map((hunk): Lines | undefined => {
      const start = numberAt(hunk, 'newStart')
      return start === undefined ? undefined : [start, start + Math.max(1, numberAt(hunk, 'newLines') ?? 1) - 1]
    })
    .filter((lines) => lines !== undefined)
}

/** New only where somebody says so: a file nobody has looked at may have been there. */
function writeNews({ call, text, raw }: Result) {
  const content = stringAt(call.input, 'content') ?? stringAt(call.input, 'file_text')
  const isNew = stringAt(raw, 'type') === 'create' || /^(?:new )?file created\b/i.test(text)
  return {
    act: isNew ? 'created' : 'written',
    lines: content === undefined ? undefined : content.split('\n').length,
  } as const
}

/** Matches name their file at the start of the line; the words behind it belong to that file. */
function readSearch(state: State, text: string): void {
  let path = ''
  let words: string[] = []
  const close = () => {
    if (words.length === 0) return
    const home = path === '' ? ({ type: 'talk', name: 'context' } as const) : ({ type: 'file', name: path } as const)
    noteNames(state, words.join('\n'), { home, homeRank: path === '' ? 0 : 3 })
    words = []
  }
  for (const line of text.slice(0, 200_000).split('\n')) {
    const [, found, rest] = /^([^\s:]+\.\w+)[:-]\d+[:-](.*)$/.exec(line) ?? []
    if (found !== undefined && found !== path) {
      close()
      path = found
      noteFile(state, path, { act: 'searched' })
    } else if (found === undefined && path !== '') {
      close()
      path = ''
    }
    words.push(rest ?? line)
  }
  close()
}

/** What a person chose when asked: the words are theirs, though they come as a tool's result. */
function readAnswers(state: State, raw: unknown): void {
  const answers = objectAt(raw, 'answers')
  for (const [question, answer] of Object.entries(answers ?? {})) {
    if (typeof answer !== 'string') continue
    noteNames(state, answer, { home: { type: 'talk', name: 'human' }, homeRank: 2, asked: true })
    noteSaying(state, state.decisions, { text: oneLine(`${question} → ${answer}`, 320), by: 'human' })
  }
}
