// The part of the screen below the scrollback as lines: current activity, the prompt, and the gauge. Pure.
import { count, counted } from '../../render/numbers.ts'
import { retryLine } from '../../render/retry.ts'
import { oneLine } from '../../render/safe.ts'
import type { Sheet } from '../../render/sheet.ts'
import { todosDone } from '../../render/todos.ts'
import { columnsOf, cut } from '../../render/width.ts'
import { workLine } from '../../render/work.ts'
import type { Call } from '../host/protocol.ts'
import { canMove, type RunningCall, sheetOf, type TerminalState } from '../state/state.ts'
import { askBox } from './asks.ts'
import type { Drawing } from './drawing.ts'
import { editorBox } from './editor-box.ts'
import { footerLines } from './footer.ts'
import { nameOf, subjectOf, todoLine } from './items.ts'
import { markdownLines } from './markdown.ts'
import { pickerBox, viewerBox } from './overlays.ts'

export function drawLive(state: TerminalState, now: number): Drawing {
  const sheet = sheetOf(state)
  const { rows } = state.size
  const bottom = bottomOf(state, sheet)
  const happening = [
    ...runningLines(state, sheet, now),
    ...statusLines(state, sheet, now),
    ...todoLines(state, sheet),
    ...queuedLines(state, sheet),
  ]
  const own = state.statusLine === '' ? [] : [sheet.paint('dim', cut(oneLine(state.statusLine), sheet.width))]
  const footer = [...footerLines(state.gauge, state.agent, sheet), ...own]
  const hint = state.hint === undefined ? [] : [sheet.paint('yellow', cut(oneLine(state.hint), sheet.width))]
  // One row less than the screen, because a frame that fills it would make the terminal scroll with every change.
  const room = rows - 1 - 1 - bottom.lines.length - hint.length - footer.length
  const above = [...answerLines(state, sheet), ...happening]
  const before = ['', ...(room > 0 ? above.slice(-room) : [])]
  const { cursor } = bottom
  return {
    lines: [...before, ...bottom.lines, ...hint, ...footer],
    ...(cursor ? { cursor: { x: cursor.x, y: cursor.y + before.length } } : {}),
  }
}

function bottomOf(state: TerminalState, sheet: Sheet): Drawing {
  const [ask] = state.asks
  if (ask) return askBox(ask, state, sheet)
  if (state.overlay?.type === 'picker') return pickerBox(state.overlay, state, sheet)
  if (state.overlay?.type === 'viewer') return viewerBox(state.overlay, state, sheet)
  return editorBox(state, sheet)
}

/**
 * The block of the answer that is being written, limited to a third of the screen: a terminal that becomes narrower wraps the
 * frame, and rows that no longer fit would go to the scrollback before the block is finished.
 */
function answerLines({ answer, size }: TerminalState, sheet: Sheet): readonly string[] {
  return answer.trim() === '' ? [] : markdownLines(answer, sheet).slice(-Math.max(3, Math.floor(size.rows / 3)))
}

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

function spinner(now: number): string {
  return frames[Math.floor(now / 120) % frames.length] ?? ''
}

function secondsSince(start: number, now: number): string {
  return `${Math.max(0, Math.floor((now - start) / 1_000))} s`
}

function runningLines(state: TerminalState, { width, paint }: Sheet, now: number): readonly string[] {
  const [ask] = state.asks
  // The open question already describes this call.
  const asking = ask?.type === 'permission' ? ask.request.toolUseId : undefined
  const running = state.running.filter(({ call }) => call.id !== asking)
  const shown = running.slice(0, maxRunning).flatMap(({ call, startedAt, steps, step, spent, output }) => {
    const done = steps > 0 || spent ? `${workLine({ calls: steps, ...spent })}, ` : ''
    const end = cut(` · ${done}${secondsSince(startedAt, now)}`, width - 2 - minTitle)
    const title = cut(titleOf(call), width - 2 - columnsOf(end))
    const below = [...(step ? [titleOf(step)] : []), ...outputLines(output)]
    return [
      `${paint('yellow', '○')} ${title}${paint('dim', end)}`,
      ...below.map((line) => paint('dim', `  ${cut(oneLine(line), width - 2)}`)),
    ]
  })
  const left = running.length - maxRunning
  return left > 0 ? [...shown, paint('dim', `  and ${left} more`)] : shown
}

const maxRunning = 5
const minTitle = 8

function titleOf(call: Call): string {
  return `${nameOf(call)} ${subjectOf(call)}`.trimEnd()
}

function outputLines(
  { lines, total }: NonNullable<RunningCall['output']> = { lines: [], total: 0 },
): readonly string[] {
  const left = total - lines.length
  return left > 0 ? [`… ${counted(left, 'line')} before`, ...lines] : lines
}

function statusLines(state: TerminalState, { width, paint }: Sheet, now: number): readonly string[] {
  const status = statusOf(state, now)
  if (status === undefined) return []
  const { text, keys, style } = status
  const mark = paint(style, spinner(now))
  const whole = text.endsWith('.') ? `${text} ${keys}.` : `${text} · ${keys}`
  if (columnsOf(whole) <= width - 2) return [`${mark} ${paint(style, whole)}`]
  // The hint on how to stop it is never cut off.
  return [`${mark} ${paint(style, cut(text, width - 2))}`, `  ${paint(style, cut(keys, width - 2))}`]
}

type Status = { readonly text: string; readonly keys: string; readonly style: 'magenta' | 'yellow' | 'cyan' }

export function statusOf(state: TerminalState, now: number): Status | undefined {
  const { compaction, retry, command, agent, busySince, running } = state
  // Not for a compaction in the background: nobody waits for it.
  if (retry && (compaction || command !== undefined || agent?.isBusy))
    return { text: retryLine(retry, retry.until - now), keys: 'Esc stops', style: 'yellow' }
  if (compaction) {
    const { phase, outputTokens, startedAt, tokens } = compaction
    const written = outputTokens === undefined ? '' : `, ${count(outputTokens)} tokens written`
    const from = tokens === 0 ? '' : ` ${count(tokens)} tokens`
    const text = `Compacting${from}: ${phase}${written}, ${secondsSince(startedAt, now)}`
    return { text, keys: 'Esc to cancel', style: 'magenta' }
  }
  const move = canMove(state) ? ' · Ctrl+B to background' : ''
  if (command !== undefined) return { text: `Running ${oneLine(command)}`, keys: `Esc to stop${move}`, style: 'cyan' }
  // While a question is open, the agent waits for the person, and the question shows its keys.
  if (!agent?.isBusy || state.asks.length > 0) return undefined
  const what = state.isThinking ? 'Thinking' : running.length > 0 ? 'Working' : 'Waiting for the model'
  const text = `${state.answer === '' ? what : 'Answering'}, ${secondsSince(busySince ?? now, now)}`
  return { text, keys: `Esc to interrupt${move}`, style: 'cyan' }
}

const maxTodoLines = 5

/** While a turn runs: the number of finished steps, and the open ones, those in progress first. */
function todoLines({ todos, agent, size }: TerminalState, sheet: Sheet): readonly string[] {
  const inProgress = todos.filter(({ status }) => status === 'in_progress')
  const open = [...inProgress, ...todos.filter(({ status }) => status === 'pending')]
  if (!agent?.isBusy || open.length === 0) return []
  // In a low window, less of it.
  const room = Math.min(maxTodoLines, Math.floor(size.rows / 4)) - 1
  const shown = open.length > room ? open.slice(0, Math.max(0, room - 1)) : open
  const left = open.length - shown.length
  const more = left > 0 && room > 0 ? [sheet.paint('dim', `  and ${left} more`)] : []
  const done = sheet.paint('dim', cut(`Steps: ${todosDone(todos)}`, sheet.width))
  return [done, ...shown.map((todo) => todoLine(todo, sheet, '  ')), ...more]
}

function queuedLines({ agent, early }: TerminalState, { width, paint }: Sheet): readonly string[] {
  const queued = agent?.queued ?? early
  if (queued.length === 0) return []
  const lines = queued
    .slice(-maxQueued)
    .map(({ text, command }) => paint('dim', cut(`› ${oneLine(command ?? text)}`, width)))
  return [paint('dim', cut(queuedTitle(queued.length, agent !== undefined), width)), ...lines]
}

const maxQueued = 3

function queuedTitle(queued: number, isStarted: boolean): string {
  return `Queued (${queued}), sent ${isStarted ? 'with the next request. ↑ edits:' : 'when the agent is ready:'}`
}
