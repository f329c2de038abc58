// Undo, deleted text and the list of keys at the prompt.
import { expect, test } from 'vitest'
import type { AgentState } from '../../app.ts'
import { editorWith } from '../input/editor.ts'
import type { Press } from '../input/keys.ts'
import { withAsk } from './apply-event.ts'
import type { Effect } from './effects.ts'
import { press } from './press.ts'
import { firstState, type TerminalState } from './state.ts'

const idle: AgentState = { isBusy: false, sessionId: 's', mode: 'ask', model: 'm', queued: [], tasks: [] }
const ready: TerminalState = { ...firstState, agent: idle }
const commands = [{ name: 'compact', usage: '[instructions]', description: 'summarizes' }]
const typed = (text: string): Press => ({ key: 'text', text })

/** The state and the effects after these keys, pressed one second apart. */
function pressed(state: TerminalState, ...keys: readonly (string | Press)[]) {
  const effects: Effect[] = []
  const last = keys.reduce((before, key, nth) => {
    const step = press(before, typeof key === 'string' ? { key } : key, (nth + 1) * 1_000)
    effects.push(...step.effects)
    return step.state
  }, state)
  return { state: last, effects }
}

test('what was deleted before another message was sent can be inserted after it', () => {
  const stashed = pressed(ready, typed('a long draft'), 'ctrl+u', typed('quick one'), 'enter')
  expect(stashed.effects).toHaveLength(1)
  expect(pressed(stashed.state, 'ctrl+y').state.editor.text).toBe('a long draft')
  expect(pressed(stashed.state, 'ctrl+_').state.editor.text).toBe('')
})

test.each([
  ['Ctrl+C', ['ctrl+c']],
  ['Esc', ['escape', 'escape']],
  ['the history', ['up']],
  ['a completion', ['tab']],
])('Ctrl+_ restores the text that %s replaced', (_, keys) => {
  const state = { ...ready, commands, history: ['older'], editor: editorWith('/co'), completion: 0 }
  const closed: TerminalState = keys[0] === 'tab' ? state : { ...state, completion: -1 }
  const replaced = keys.reduce((before, key, nth) => press(before, { key }, nth * 100).state, closed)
  expect(replaced.editor.text).not.toBe('/co')
  expect(pressed(replaced, 'ctrl+_').state.editor.text).toBe('/co')
})

test('? in an empty prompt lists the keys until the next key, and a second one is typed', () => {
  const busy = { ...ready, agent: { ...idle, isBusy: true } }
  const open = pressed(busy, typed('?'))
  expect([open.state.showsKeys, open.state.editor.text]).toEqual([true, ''])
  const shown = (...keys: readonly (string | Press)[]) => {
    const { state, effects } = pressed(open.state, ...keys)
    return [state.showsKeys, state.editor.text, effects]
  }
  expect(shown('escape')).toEqual([false, '', []])
  expect(shown(typed('?'))).toEqual([false, '?', []])
  expect(shown(typed('a'), typed('?'))).toEqual([false, 'a?', []])
  const request = { toolUseId: 't', tool: 'Bash', title: 'Run npm test' }
  const asking = withAsk(ready, 7, { type: 'permission', request })
  expect(pressed(asking, typed('?')).state.showsKeys).toBe(false)
})
