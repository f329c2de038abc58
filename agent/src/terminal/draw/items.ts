// Items of the scrollback as lines: prompts, answers, folded calls, receipts, notices.

import type { Prompt } from '../../app.ts'
import { counted, duration } from '../../render/numbers.ts'
import { oneLine, safeText } from '../../render/safe.ts'
import type { Sheet } from '../../render/sheet.ts'
import { wrapSpans, wrapText } from '../../render/spans.ts'
import { type Todo, todoMarks } from '../../render/todos.ts'
import { columnsOf, cut, cutStart } from '../../render/width.ts'
import type { Call, FinishedCall, SetupScreen } from '../host/protocol.ts'
import type { Item } from '../state/state.ts'
import { changedLines, diffLines } from './diff.ts'
import { markdownLines } from './markdown.ts'
import { detailLines } from './request-detail.ts'

/** How to expand folded items: a key, or a command if there are no keys. */
export type ItemSheet = Sheet & { readonly expand?: string }

export function itemLines(item: Item, sheet: ItemSheet): readonly string[] {
  const lines = contentLines(item, sheet)
  return item.hasGap ? ['', ...lines] : lines
}

/** The part of an item that is drawn as Markdown. */
export function markdownIn(item: Item): string {
  if (item.type === 'answer') return item.text
  if (item.type === 'call') return item.call.plan ?? ''
  return item.type === 'detail' && item.detail.type === 'markdown' ? item.detail.text : ''
}

function contentLines(item: Item, sheet: ItemSheet): readonly string[] {
  const { width, paint } = sheet
  switch (item.type) {
    case 'welcome':
      return welcomeLines(item.folder, sheet)
    case 'prompt':
      return promptLines(item.prompt, sheet)
    case 'answer':
      return markdownLines(item.text, sheet)
    case 'call':
      return callLines(item.call, sheet)
    case 'receipt':
      return [
        ...wrapSpans([{ text: oneLine(item.line), style: 'magenta' }], sheet, {
          first: `${paint('magenta', '●')} `,
          rest: '  ',
        }),
        ...wrapSpans([{ text: `${expandOf(sheet)} shows all of it. /undo takes it back.`, style: 'dim' }], sheet, {
          first: '  ',
          rest: '  ',
        }),
      ]
    case 'notice':
      return wrapSpans([{ text: safeText(item.text), style: 'dim' }], sheet, {
        first: `${paint('dim', '·')} `,
        rest: '  ',
      })
    case 'trouble':
      return wrapSpans([{ text: safeText(item.text), style: 'red' }], sheet, {
        first: `${paint('red', '!')} `,
        rest: '  ',
      })
    case 'announcement':
      return wrapSpans([{ text: safeText(item.text), style: 'bold' }], sheet, {
        first: `${paint('magenta', '▍')} `,
        rest: `${paint('magenta', '▍')} `,
      })
    case 'detail':
      return [
        ...wrapSpans([{ text: oneLine(item.title), style: 'bold' }], sheet),
        ...indented(detailLines(item.detail, { ...sheet, width: width - 2 }), '  '),
      ]
    case 'output':
      return outputLines(item.text, width)
    case 'setup':
      return setupLines(item.why, item.setup, sheet)
  }
}

function expandOf({ expand = 'Ctrl+O' }: { readonly expand?: string | undefined }): string {
  return expand
}

/** A line that is too long continues under its last column, if there is room. */
function outputLines(text: string, width: number): readonly string[] {
  return safeText(text)
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const column = /^.*\S {2,}(?=\S)/.exec(line)?.[0].length ?? /^ */.exec(line)?.[0].length ?? 0
      return wrapText(line, width, { first: '', rest: ' '.repeat(column < width * 0.7 ? column : 4) })
    })
}

function welcomeLines(folder: string, { width, paint, expand }: ItemSheet): readonly string[] {
  return [
    `${paint('bold', 'Everlong')} ${paint('dim', cutStart(oneLine(folder), Math.max(8, width - 9)))}`,
    paint('dim', cut(`/help shows the commands, ${expandOf({ expand })} expands, Ctrl+C twice quits.`, width)),
  ]
}

function setupLines(why: string, { title, steps }: SetupScreen, sheet: Sheet): readonly string[] {
  return [
    ...(why === '' ? [] : [...wrapText(safeText(why), sheet.width), '']),
    ...wrapSpans([{ text: safeText(title), style: 'bold' }], sheet),
    ...steps.flatMap((step, at) => [
      '',
      ...wrapText(`${at + 1}. ${safeText(step.title)}`, sheet.width),
      // Always whole, because they are meant to be copied.
      ...step.commands.map((command) => `   ${sheet.paint('cyan', oneLine(command))}`),
    ]),
  ]
}

/** Folds a long paste as the editor did. */
function promptLines({ text, images = [] }: Prompt, sheet: Sheet): readonly string[] {
  const shown = text.split('\n').length > maxPromptLines ? foldedPrompt(text) : safeText(text)
  const extra = images.length > 0 && !text.includes('[Image #') ? ` [${counted(images.length, 'image')}]` : ''
  return wrapSpans([{ text: shown + extra, style: ['bold', 'cyan'] }], sheet, {
    first: sheet.paint('cyan', '› '),
    rest: '  ',
  })
}

const maxPromptLines = 20

/** A person's own words are before or after the pasted text, so the first and the last line are shown. */
function foldedPrompt(text: string): string {
  const lines = safeText(text).trimEnd().split('\n')
  return [lines[0], `[… ${counted(lines.length - 2, 'line')}]`, lines.at(-1)].join('\n')
}

/** One line; for an edit also its change. */
function callLines(call: FinishedCall, sheet: ItemSheet): readonly string[] {
  const { paint, width } = sheet
  const dot = call.isError ? paint('red', '✗') : paint('green', '●')
  const isCut = call.isError && columnsOf(oneLine(call.outcome)) > outcomeRoom(call, width - 2)
  const line = `${dot} ${isCut ? callSubject(call, width - 2) : callTitle(call, width - 2)}`
  if (call.todos && !call.isError) return [line, ...call.todos.map((todo) => todoLine(todo, sheet))]
  const inside = { ...sheet, width: width - 4 }
  // The person has read and approved the plan, so all of it stays.
  if (call.plan !== undefined && !call.isError) return [line, ...indented(markdownLines(call.plan, inside))]
  if (call.name === '!')
    return [line, ...folded(wrapText(safeText(call.output).trimEnd(), width - 4), maxShellLines, sheet)]
  if (call.isError) {
    const reason = isCut ? reasonLines(call, inside) : []
    return [line, ...reason, ...(call.name === 'Bash' ? failedLines(call, inside) : [])]
  }
  return call.diff === undefined ? [line] : [line, ...folded(diffLines(call.diff, inside), maxDiffLines, sheet)]
}

/** Why a call failed, if it has no room next to the name. */
function reasonLines({ outcome }: FinishedCall, { paint, width }: ItemSheet): readonly string[] {
  const lines = wrapText(oneLine(outcome), width)
  const left = lines.slice(0, maxReasonLines)
  if (lines.length > left.length) left.push(cut(`${left.pop() ?? ''} ${lines[maxReasonLines] ?? ''}`, width))
  return indented(left.map((line) => paint('dim', line)))
}

/** How a failed or interrupted command ended. The first line is the outcome, and the reason is usually in the last lines. */
function failedLines({ output }: FinishedCall, { paint, width, expand }: ItemSheet): readonly string[] {
  const lines = safeText(output)
    .split('\n')
    .slice(1)
    .filter((line) => line.trim() !== '')
  const left = lines.length - maxFailedLines
  const before = left > 0 ? [`… ${counted(left, 'line')} before, ${expandOf({ expand })} shows them`] : []
  return indented([...before, ...lines.slice(-maxFailedLines)].map((line) => paint('dim', cut(line, width))))
}

const maxReasonLines = 3
const maxFailedLines = 5
const maxDiffLines = 12
const maxShellLines = 20

function folded(lines: readonly string[], most: number, { paint, width, expand }: ItemSheet): readonly string[] {
  const left = lines.length - most
  const shows = `${expandOf({ expand })} shows them`
  const more = left > 0 ? [paint('dim', cut(`    … ${counted(left, 'more line')}, ${shows}`, width))] : []
  return [...indented(lines.slice(0, most)), ...more]
}

function indented(lines: readonly string[], by = '    '): readonly string[] {
  return lines.map((line) => `${by}${line}`)
}

export function todoLine({ text, status }: Todo, { paint, width }: Sheet, indent = '    '): string {
  const line = cut(`${indent}${todoMarks[status]} ${oneLine(text)}`, width)
  return status === 'in_progress' ? paint('bold', line) : status === 'completed' ? paint('dim', line) : line
}

/** `Read src/main.ts · 120 lines`, cut in the middle part. */
export function callTitle(call: FinishedCall, width: number): string {
  const changed = call.diff === undefined ? '' : ` ${changedLines(call.diff)}`
  const outcome = cut(oneLine(call.outcome) + changed + timeOf(call), outcomeRoom(call, width))
  return `${callSubject(call, width - columnsOf(outcome) - 3)} · ${outcome}`
}

function timeOf({ tookMs }: FinishedCall): string {
  return tookMs === undefined ? '' : `, ${duration(tookMs)}`
}

function callSubject(call: FinishedCall, width: number): string {
  return cut(`${nameOf(call)} ${subjectOf(call)}`.trimEnd(), width)
}

/** At least half of the line, and what the subject does not need. */
function outcomeRoom(call: FinishedCall, width: number): number {
  const rest = width - columnsOf(callSubject(call, width)) - 3
  return Math.max(10, Math.floor(width / 2), rest)
}

/** A model may call a tool by any name. */
export function nameOf({ name }: Pick<Call, 'name'>): string {
  return oneLine(name)
}

/** Empty if it would only repeat the name. */
export function subjectOf({ name, subject }: Pick<Call, 'name' | 'subject'>): string {
  const text = oneLine(subject)
  return text === oneLine(name) ? '' : text
}
