// The list of steps that the terminal keeps.
import { expect, test } from 'vitest'
import type { UiEvent } from '../host/protocol.ts'
import { applyEvent } from './apply-event.ts'
import { firstState, type TerminalState } from './state.ts'

const call = { id: 'c1', name: 'TodoWrite', subject: '', input: '', output: '', outcome: 'noted', isError: false }

function after(state: TerminalState, ...events: readonly UiEvent[]): TerminalState {
  return events.reduce((before, event) => applyEvent(before, event, 0), state)
}

test('the newest list of steps is kept, but not one that failed, of a sub-agent, or of another session', () => {
  const todos = (text: string) => [{ text, status: 'pending' as const }]
  const wrote = (text: string, more: object = {}) =>
    ({ type: 'call-finished', call: { ...call, todos: todos(text), ...more } }) as const
  const state = after(firstState, wrote('one'), wrote('two', { isError: true }), wrote('three', { parent: 'p' }))
  expect(state.todos).toEqual(todos('one'))
  expect(after(state, { type: 'call-finished', call }).todos).toEqual(todos('one'))
  expect(after(state, { type: 'todos', todos: [] }).todos).toEqual([])
  expect(after(state, { type: 'session', title: 'new', past: [] }).todos).toEqual([])
  expect(after(state, { type: 'session', title: 'old', past: [wrote('past')] }).todos).toEqual(todos('past'))
})
