import { expect, test } from 'vitest'
import type { Agent } from '../../app.ts'
import { pastOf } from './past.ts'

function past(...messages: readonly object[]) {
  return pastOf({ session: () => ({ messages: () => messages }) } as unknown as Agent, '/work')
}

const pasted = 'a line of a paste\n'.repeat(200)

test("a person's words come whole, because the terminal folds them and counts their lines", () => {
  const content = `<system-reminder>Not shown.</system-reminder>${pasted}Read it.`
  expect(past({ role: 'user', origin: 'human', content })).toEqual([
    { type: 'prompt', prompt: { text: `${pasted}Read it.` }, isQueued: false },
  ])
})

test('a long answer is cut, and a summary is one line', () => {
  const answer = { role: 'assistant', origin: 'assistant', content: 'x'.repeat(1_001) }
  const summary = { role: 'user', origin: 'summary', content: 'What was said.' }
  expect(past(summary, answer)).toEqual([
    { type: 'notice', text: 'What came before is summarized.' },
    { type: 'answer', text: `${'x'.repeat(1_000)}…` },
  ])
})

test('the mark of an interrupt is a notice and no words of the person', () => {
  const interrupted = { type: 'text', text: 'The person interrupted the work here.' }
  const content = [
    { type: 'text', text: '<system-reminder>Not shown.</system-reminder>' },
    { type: 'text', text: 'stalled?' },
    interrupted,
    { type: 'text', text: 'go on' },
    interrupted,
  ]
  const prompt = (text: string) => ({ type: 'prompt', prompt: { text }, isQueued: false })
  const notice = { type: 'notice', text: 'Interrupted.' }
  expect(past({ role: 'user', origin: 'human', content })).toEqual([
    prompt('stalled?'),
    notice,
    prompt('go on'),
    notice,
  ])
  expect(past({ role: 'user', origin: 'meta', content: interrupted.text })).toEqual([notice])
  const result = { type: 'tool_result', tool_use_id: 't1', content: 'Interrupted before it finished.', is_error: true }
  expect(past({ role: 'user', origin: 'tool-result', content: [result, interrupted] })).toEqual([notice])
  const told = { type: 'text', text: 'A background task has ended.' }
  expect(past({ role: 'user', origin: 'meta', content: [told, interrupted, told] })).toEqual([notice])
  // Quoted, it is text like any other.
  const quoted = { role: 'user', origin: 'human', content: `Why "${interrupted.text}"?` }
  expect(past(quoted)).toEqual([prompt(quoted.content)])
})

test('a call without a result was not finished', () => {
  const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'sleep 9' } }
  const [shown] = past({ role: 'assistant', origin: 'assistant', content: [call] })
  expect(shown).toMatchObject({ type: 'call-finished', call: { isError: true, outcome: 'It was not finished.' } })
})
