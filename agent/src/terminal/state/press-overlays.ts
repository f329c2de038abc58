// Keys in overlays that the person opens: pickers, and the viewer of folded items.
import { lastTop } from '../draw/overlays.ts'
import { editorWith } from '../input/editor.ts'
import type { Press } from '../input/keys.ts'
import { replaced } from '../input/memory.ts'
import { matchingChoices } from './choices.ts'
import { type Step, step } from './effects.ts'
import type { Picker, TerminalState, Viewer } from './state.ts'

export function pressInPicker(state: TerminalState, picker: Picker, press: Press): Step {
  const choices = matchingChoices(picker)
  const show = (changed: Partial<Picker>) => step({ ...state, overlay: { ...picker, ...changed } })
  const last = Math.max(0, choices.length - 1)
  switch (press.key) {
    case 'escape':
      return step({ ...state, overlay: undefined })
    case 'enter': {
      const choice = choices[picker.selected]
      if (!choice) return step(state)
      if (picker.fillsPrompt) {
        const editor = replaced(state.editor, editorWith(choice.command))
        return step({ ...state, overlay: undefined, editor, completion: -1 })
      }
      const [name = ''] = choice.command.split(' ', 1)
      return step(
        { ...state, overlay: undefined },
        { type: 'command', line: choice.command, shown: `${name} ${choice.label}` },
      )
    }
    case 'up':
      return show({ selected: Math.max(0, picker.selected - 1) })
    case 'down':
    case 'ctrl+r':
      return show({ selected: Math.min(last, picker.selected + 1) })
    case 'pageup':
      return show({ selected: Math.max(0, picker.selected - 10) })
    case 'pagedown':
      return show({ selected: Math.min(last, picker.selected + 10) })
    case 'backspace':
      return show({ filter: picker.filter.slice(0, -1), selected: 0 })
    case 'text':
      return show({ filter: picker.filter + (press.text ?? ''), selected: 0 })
    default:
      return step(state)
  }
}

/** Opens the newest folded item. */
export function viewNewest(state: TerminalState): Step {
  if (state.details.length === 0) return step({ ...state, hint: 'There is nothing to expand yet.' })
  return view(state, state.details.length - 1)
}

function view(state: TerminalState, at: number): Step {
  const detail = state.details[at]
  if (!detail) return step(state)
  const shown: TerminalState = { ...state, overlay: { type: 'viewer', at, top: 0 } }
  if (detail.type !== 'receipt' || detail.original) return step(shown)
  return step(shown, { type: 'load-original', receipt: detail.receipt.uuid })
}

const pageLines = 10

export function pressInViewer(state: TerminalState, viewer: Viewer, press: Press): Step {
  const scrollTo = (top: number) =>
    step({ ...state, overlay: { ...viewer, top: Math.max(0, Math.min(top, lastTop(viewer, state))) } })
  const scroll = (by: number) => scrollTo(viewer.top + by)
  switch (press.text ?? press.key) {
    case 'escape':
    case 'ctrl+o':
    case 'q':
      return step({ ...state, overlay: undefined })
    case 'left':
    case 'p':
      return view(state, viewer.at - 1)
    case 'right':
    case 'n':
      return view(state, viewer.at + 1)
    case 'up':
    case 'k':
      return scroll(-1)
    case 'down':
    case 'j':
      return scroll(1)
    case 'pageup':
      return scroll(-pageLines)
    case 'pagedown':
    case ' ':
      return scroll(pageLines)
    case 'home':
    case 'g':
      return scrollTo(0)
    case 'end':
    case 'G':
      return scrollTo(Number.MAX_SAFE_INTEGER)
    default:
      return step(state)
  }
}
