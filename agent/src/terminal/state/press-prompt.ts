// Keys at the prompt: editing, history, completion, sending.
import type { Prompt } from '../../app.ts'
import { isCommand } from '../input/command-line.ts'
import { mentionIn, menuOf } from '../input/completion.ts'
import { type Editor, edit, editorWith, emptied, insert, lineOf, promptOf } from '../input/editor.ts'
import type { Press } from '../input/keys.ts'
import { replaced } from '../input/memory.ts'
import { type Step, step } from './effects.ts'
import type { TerminalState } from './state.ts'

export function pressInPrompt(state: TerminalState, press: Press): Step {
  const rows = menuOf(state)
  const at = Math.min(state.completion, rows.length - 1)
  const row = rows[at]
  if (row) {
    if (press.key === 'up') return step({ ...state, completion: (at + rows.length - 1) % rows.length })
    if (press.key === 'down') return step({ ...state, completion: (at + 1) % rows.length })
    if (press.key === 'enter' && row.sent) return submit(typedInto(state, replaced(state.editor, row.sent)))
    if (press.key === 'enter' || press.key === 'tab')
      return step(typedInto(state, replaced(state.editor, row.completed)))
  }
  if (press.key === 'enter') return enter(state)
  if (press.key === 'up' && canLeave(state, 'up')) return older(state)
  if (press.key === 'down' && canLeave(state, 'down')) return step(newer(state))
  const edited = edit(state.editor, press)
  if (!edited) return step(state)
  const typed = mentionIn(edited)
  const isNew = typed !== undefined && typed !== state.found?.typed
  return step(typedInto(state, edited), ...(isNew ? [{ type: 'find-files' as const, typed }] : []))
}

function typedInto(state: TerminalState, editor: Editor): TerminalState {
  const isSame = editor.text === state.editor.text
  return { ...state, editor, completion: isSame ? state.completion : 0, ...(isSame ? {} : { recalled: undefined }) }
}

/** A backslash before Enter starts a new line. */
function enter(state: TerminalState): Step {
  const { editor } = state
  const before = editor.text.slice(0, editor.cursor)
  if (!before.endsWith('\\')) return submit(state)
  const without = { ...editor, text: before.slice(0, -1) + editor.text.slice(editor.cursor), cursor: editor.cursor - 1 }
  return step(typedInto(state, replaced(editor, insert(without, '\n'))))
}

function submit(state: TerminalState): Step {
  const shown = state.editor.text.trim()
  if (shown === '') return step(state)
  const cleared: TerminalState = {
    ...state,
    editor: emptied(state.editor),
    recalled: undefined,
    found: undefined,
    completion: 0,
    typedAt: 0,
  }
  if (!isCommand(shown) || state.editor.pastes.length > 0) {
    const prompt = promptOf(state.editor)
    return step(waiting(cleared, prompt), { type: 'submit', prompt, shown })
  }
  if (state.command !== undefined) return step({ ...state, hint: `${state.command} is still running.` })
  return step(cleared, { type: 'command', line: shown })
}

/** Before the agent is ready, a prompt is shown as queued. */
function waiting(state: TerminalState, prompt: Prompt): TerminalState {
  return state.agent === undefined ? { ...state, early: [...state.early, prompt] } : state
}

/** Up on the first line and down on the last one move from the text to the history. */
function canLeave({ editor }: TerminalState, way: 'up' | 'down'): boolean {
  const { line, lines } = lineOf(editor)
  return way === 'up' ? line === 0 : line === lines - 1
}

function older(state: TerminalState): Step {
  const { history, recalled, editor, agent } = state
  if (editor.text === '' && (agent?.queued.length ?? 0) > 0) return step(state, { type: 'take-queued' })
  const back = (recalled?.back ?? 0) + 1
  const text = history[history.length - back]
  if (text === undefined) return step(state)
  return step({
    ...state,
    editor: replaced(editor, editorWith(text)),
    completion: -1,
    recalled: { back, draft: recalled?.draft ?? editor },
  })
}

function newer(state: TerminalState): TerminalState {
  const { history, recalled, editor } = state
  if (!recalled) return state
  const back = recalled.back - 1
  if (back === 0) return { ...state, editor: replaced(editor, recalled.draft), recalled: undefined }
  const newerText = editorWith(history[history.length - back] ?? '')
  return { ...state, editor: replaced(editor, newerText), recalled: { ...recalled, back } }
}

/** Lists previously typed lines, newest first, filtered by the typed text. */
export function searchHistory(state: TerminalState): Step {
  const texts = [...new Set(state.history.toReversed())]
  if (texts.length === 0) return step({ ...state, hint: 'There is no history yet.' })
  const choices = texts.map((text) => ({ label: text, command: text }))
  const overlay = {
    type: 'picker',
    title: 'History',
    choices,
    filter: state.editor.text,
    selected: 0,
    fillsPrompt: true,
  } as const
  return step({ ...state, overlay })
}
