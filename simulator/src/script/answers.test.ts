import { expect, test } from 'vitest'
import { combine, text, thinking, toolUse } from './answers.ts'
import { fixed } from './fixed.ts'
import { route } from './route.ts'
import { contextOf, requestOf } from './testing.ts'

test('answers combine into one, blocks in order', () => {
  expect(combine(thinking('Hm.'), text('Reading.'), toolUse('Read', { file_path: 'a.ts' }, 'toolu_1'))).toEqual({
    content: [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Reading.' },
      { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: 'a.ts' } },
    ],
  })
})

test('a combined answer keeps the last stop reason and endlessness', () => {
  expect(combine({ ...text('No.'), stopReason: 'refusal' }, { ...text('…'), endless: true })).toEqual({
    content: [
      { type: 'text', text: 'No.' },
      { type: 'text', text: '…' },
    ],
    stopReason: 'refusal',
    endless: true,
  })
})

test('a tool use without an id leaves the id to the server', () => {
  expect(toolUse('Bash')).toEqual({ content: [{ type: 'tool_use', name: 'Bash', input: {} }] })
})

test('a fixed script answers turn by turn, then repeats its last answer', () => {
  const script = fixed(['one', text('two')])
  const answers = [0, 1, 2, 9].map((turn) => script(requestOf('go'), contextOf(turn)))
  expect(answers).toEqual([text('one'), text('two'), text('two'), text('two')])
})

test('a fixed script that may not repeat says so or fails', () => {
  expect(fixed(['one'], { whenExhausted: 'say' })(requestOf('go'), contextOf(1))).toEqual({
    content: [{ type: 'text', text: '[simulator] The script has 1 answers, and this is request 2.' }],
    stopReason: 'end_turn',
  })
  expect(() => fixed(['one'], { whenExhausted: 'fail' })(requestOf('go'), contextOf(1))).toThrow(
    'The script has 1 answers, and this is request 2.',
  )
  expect(() => fixed([])).toThrow('at least one answer')
})

test('a route takes the first rule that holds, and every script counts its own turns', () => {
  const script = route(
    [
      { when: (request) => request.model === 'small', script: fixed(['small 1', 'small 2']) },
      { when: (_request, context) => context.turn === 3, script: fixed(['fourth']) },
    ],
    fixed(['other 1', 'other 2']),
  )
  const models = ['big', 'small', 'big', 'big', 'small']
  const answers = models.map((model, turn) => script(requestOf('go', { model }), contextOf(turn)))
  expect(answers).toEqual(['other 1', 'small 1', 'other 2', 'fourth', 'small 2'].map(text))
})
