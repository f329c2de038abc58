// Applies key presses to the state, and returns effects. Pure: the time is an argument.
import type { PermissionMode } from '../../app.ts'
import { counted } from '../../render/numbers.ts'
import { menuOf } from '../input/completion.ts'
import { emptyEditor } from '../input/editor.ts'
import type { Press } from '../input/keys.ts'
import { replaced } from '../input/memory.ts'
import { type Effect, type Step, step } from './effects.ts'
import { pressInPermission, pressInQuestions } from './press-asks.ts'
import { pressInPicker, pressInViewer, viewNewest } from './press-overlays.ts'
import { pressInPrompt, searchHistory } from './press-prompt.ts'
import { type AskDialog, canMove, type TerminalState } from './state.ts'

/** How long a second Ctrl+C or Esc counts as the second, unless another key comes between. */
export const armedMs = 2_000

export function press(before: TerminalState, key: Press, now: number): Step {
  const after = pressed(before, key, now)
  const [ask] = before.asks
  return ask && after.state.asks.every(({ id }) => id !== ask.id)
    ? { ...after, state: restarted(after.state, ask, now) }
    : after
}

/** The time of a call does not include the time in which it waited for the person. */
function restarted(state: TerminalState, ask: AskDialog, now: number): TerminalState {
  const waited = (id: string) => ask.type === 'questions' || ask.request.toolUseId === id
  const running = state.running.map((each) => (waited(each.call.id) ? { ...each, startedAt: now } : each))
  return { ...state, running }
}

function pressed(before: TerminalState, key: Press, now: number): Step {
  const { armed } = before
  const state: TerminalState = {
    ...{ ...before, hint: undefined, showsKeys: false },
    armed: armed?.key === key.key ? armed : undefined,
  }
  if (key.key === 'ctrl+c') return pressCtrlC(state, now)
  if (key.key === 'ctrl+l') return step(state, { type: 'redraw' })
  if (key.key === 'ctrl+z') return step(state, { type: 'suspend' })
  const [ask] = state.asks
  if (ask && !isStillTyping(state, key, now)) {
    if (key.key === 'escape' && !takesEscape(ask)) return interrupted(state)
    return ask.type === 'permission' ? pressInPermission(state, ask, key) : pressInQuestions(state, ask, key)
  }
  if (state.overlay?.type === 'viewer') return pressInViewer(state, state.overlay, key)
  if (state.overlay?.type === 'picker') return pressInPicker(state, state.overlay, key)
  if (key.key === 'ctrl+o') return viewNewest(state)
  if (state.isPlaying) return pressWhilePlaying(state, key)
  if (key.key === 'escape') return before.showsKeys ? step(state) : pressEscape(state, now)
  if (key.key === 'text' && key.text === '?' && state.editor.text === '' && !before.showsKeys)
    return step({ ...state, showsKeys: true })
  if (key.key === 'shift+tab') return step(state, { type: 'set-mode', mode: nextMode(state) })
  if (key.key === 'ctrl+r') return searchHistory(state)
  if (key.key === 'ctrl+g') return step(state, { type: 'open-editor' })
  if (key.key === 'ctrl+v') return step(state, { type: 'paste-image' })
  if (key.key === 'ctrl+b' && canMove(state)) return step(state, { type: 'move-to-background' })
  if (key.key === 'ctrl+d' && state.editor.text === '') return pressCtrlD(state, now)
  const typed = key.key === 'text' || key.key === 'paste' ? { ...state, typedAt: now } : state
  return pressInPrompt(typed, key)
}

/** While a text is typed, Esc returns to the options. A question before the agent has started must be answered. */
function takesEscape(ask: AskDialog): boolean {
  return ask.type === 'questions'
    ? ask.own !== undefined
    : ask.reason !== undefined || ask.request.answers !== undefined
}

/** A dialog that appears in the middle of a word must not take the next letters as an answer. */
function isStillTyping(state: TerminalState, { key }: Press, now: number): boolean {
  return state.typedAt > 0 && now - state.typedAt < 700 && (key === 'text' || key === 'backspace' || key === 'enter')
}

/** Stops running work, or clears the text. Quits if pressed twice. */
function pressCtrlC(state: TerminalState, now: number): Step {
  const { armed, agent, editor } = state
  if (armed?.key === 'ctrl+c' && now - armed.at < armedMs) return step(state, { type: 'quit' })
  const next: TerminalState = {
    ...state,
    armed: { key: 'ctrl+c', at: now },
    hint: 'Press Ctrl+C again to quit.',
    overlay: undefined,
  }
  if (state.command !== undefined) return step(next, { type: 'abort-command' })
  if (agent?.isBusy || state.asks.length > 0) return step(next, { type: 'interrupt' })
  return step(editor.text === '' ? next : { ...next, editor: replaced(editor, emptyEditor), recalled: undefined })
}

/** Quits. While something runs, only the second press does. */
function pressCtrlD(state: TerminalState, now: number): Step {
  const { agent, command, armed } = state
  const runs = agent?.isBusy || command !== undefined ? 'The agent is working' : runningTasks(agent)
  if (runs === undefined || (armed && now - armed.at < armedMs)) return step(state, { type: 'quit' })
  return step({ ...state, armed: { key: 'ctrl+d', at: now }, hint: `${runs}. Press Ctrl+D again to quit.` })
}

function runningTasks(agent: TerminalState['agent']): string | undefined {
  const count = agent?.tasks.filter(({ isRunning }) => isRunning).length ?? 0
  return count === 0 ? undefined : `${counted(count, 'task')} in the background would be stopped`
}

/** Goes back one step: closes a menu, interrupts, or, pressed twice, clears the text or opens earlier messages. */
function pressEscape(state: TerminalState, now: number): Step {
  const { armed, agent, editor } = state
  if (menuOf(state).length > 0) return step({ ...state, completion: -1 })
  if (state.command !== undefined) return step(state, { type: 'abort-command' })
  if (agent?.isBusy || state.compaction) return interrupted(state)
  const isEmpty = editor.text === ''
  if (isEmpty && !state.hasSaid) return step(state)
  if (armed && now - armed.at < armedMs) {
    if (isEmpty) return step({ ...state, armed: undefined }, { type: 'command', line: '/rewind' })
    return step({ ...state, editor: replaced(editor, emptyEditor), armed: undefined })
  }
  const hint = `Press Esc again to ${isEmpty ? 'go back to an earlier message' : 'clear the text'}.`
  return step({ ...state, armed: { key: 'escape', at: now }, hint })
}

function interrupted(state: TerminalState): Step {
  const effects: readonly Effect[] = [{ type: 'interrupt' }]
  return { state: { ...state, asks: [] }, effects }
}

function pressWhilePlaying(state: TerminalState, { key }: Press): Step {
  if (key === 'escape') return step(state, { type: 'stop-playing' })
  return step({ ...state, hint: 'The demo is playing. Press Esc to take over.' })
}

const modes: readonly PermissionMode[] = ['ask', 'accept-edits', 'plan']

function nextMode({ agent }: TerminalState): PermissionMode {
  const at = modes.indexOf(agent?.mode ?? 'ask')
  return modes[(at + 1) % modes.length] ?? 'ask'
}
