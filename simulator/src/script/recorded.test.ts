import { expect, test } from 'vitest'
import { recorded } from './recorded.ts'
import { ask, assistant, contextOf, requestOf, user } from './testing.ts'

const said = (content: unknown, others: object = {}) => ({
  type: 'user',
  message: { role: 'user', content },
  ...others,
})
const answered = (id: string, block: object, others: object = {}) => ({
  type: 'assistant',
  message: { id, role: 'assistant', model: 'claude-test', content: [block], stop_reason: null, ...others },
})
const words = (text: string) => ({ type: 'text', text })
const use = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: { file_path: `${id}.ts` } })
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: `content of ${id}` })

const conversation = [
  { type: 'mode', mode: 'normal' },
  said('Fix the parser.'),
  answered('msg_1', { type: 'thinking', thinking: 'Look first.', signature: 'from another server' }),
  answered('msg_1', use('toolu_1')),
  said([result('toolu_1')]),
  answered('msg_1', use('toolu_2')),
  said([result('toolu_2')]),
  { type: 'progress', data: {} },
  answered('msg_2', words('Fixed.'), { stop_reason: 'end_turn' }),
  said('go on'),
  answered('msg_3', words('First continuation.')),
  said('Now the printer.'),
  answered('msg_4', words('Printer fixed.')),
  said('go on'),
  answered('msg_5', words('Second continuation.')),
]

test('the answer that followed is found by text, its lines joined by message id', async () => {
  expect(await ask(recorded(conversation), 'Fix the parser.')).toEqual({
    content: [{ type: 'thinking', thinking: 'Look first.' }, use('toolu_1'), use('toolu_2')],
  })
})

test('the answer that followed is found by the id of any of its tool results', async () => {
  const fixedAnswer = { content: [words('Fixed.')], stopReason: 'end_turn' }
  expect(await ask(recorded(conversation), requestOf([user([result('toolu_2'), result('toolu_1')])]))).toEqual(
    fixedAnswer,
  )
  const reminded = [user([words('<reminder>'), { ...result('toolu_1'), content: 'cleared' }])]
  expect(await ask(recorded(conversation), requestOf(reminded))).toEqual(fixedAnswer)
})

test('of two places with the same text the one with the same history answers, however often it is asked', async () => {
  const script = recorded(conversation)
  const request = requestOf([user('Now the printer.'), assistant('Printer fixed.'), user('go on')])
  for (let turn = 0; turn < 3; turn++) {
    expect(await script(request, contextOf(turn))).toEqual({ content: [words('Second continuation.')] })
  }
})

test('without a history the places of one text are taken in order', async () => {
  const script = recorded(conversation)
  const answers = [0, 1, 2].map((turn) => script(requestOf('go on'), contextOf(turn)))
  expect(answers).toEqual([
    { content: [words('First continuation.')] },
    { content: [words('Second continuation.')] },
    { content: [words('Second continuation.')] },
  ])
})

test('a message that is nowhere in the recording gets the next answer', async () => {
  const script = recorded(conversation)
  script(requestOf('Fix the parser.'), contextOf())
  expect(script(requestOf('something else'), contextOf(1))).toEqual({
    content: [words('Fixed.')],
    stopReason: 'end_turn',
  })
})

test('when the answers are used up the script says so, fails or repeats, as asked', () => {
  const records = [said('hello'), answered('msg_1', words('hi'))]
  const spent = (whenExhausted?: 'repeat' | 'say' | 'fail') => {
    const script = recorded(records, whenExhausted ? { whenExhausted } : {})
    script(requestOf('hello'), contextOf())
    return script(requestOf('more'), contextOf(1))
  }
  const why = 'The recording has 1 answers, and all of them were given.'
  expect(spent()).toEqual({ content: [words(`[simulator] ${why}`)], stopReason: 'end_turn' })
  expect(() => spent('fail')).toThrow(why)
  expect(spent('repeat')).toEqual({ content: [words('hi')] })
})

test('notices the client wrote and sub-agents are no answers of this conversation', async () => {
  const records = [
    said('hello'),
    answered('a', words('API Error: 529'), { model: '<synthetic>' }),
    { ...answered('b', words('Overloaded')), isApiErrorMessage: true },
    { ...answered('c', words('from a sub-agent')), isSidechain: true },
    null,
    'not a record',
    answered('d', words('hi')),
  ]
  expect(await ask(recorded(records), 'hello')).toEqual({ content: [words('hi')] })
  expect(await ask(recorded(records, { sidechains: true }), 'hello')).toEqual({ content: [words('from a sub-agent')] })
})
