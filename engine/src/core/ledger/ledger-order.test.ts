import { expect, test } from 'vitest'
import type { Block } from '../message/block.ts'
import type { JsonObject } from '../message/json.ts'
import { createLedger } from './ledger.ts'

function session() {
  const book = createLedger()
  let calls = 0
  const user = (text: string) => book.add({ role: 'user', origin: 'human', content: text })
  const says = (text: string) => book.add({ role: 'assistant', origin: 'assistant', content: text })
  const result = (content: readonly Block[], record?: JsonObject) =>
    book.add({ role: 'user', origin: 'tool-result', content }, record)
  const call = (name: string, input: JsonObject): string => {
    const id = `call-${calls++}`
    book.add({ role: 'assistant', origin: 'assistant', content: [{ type: 'tool_use', id, name, input }] })
    return id
  }
  const runs = (command: string, content: string, { isError = false } = {}) =>
    result([{ type: 'tool_result', tool_use_id: call('Bash', { command }), content, is_error: isError }])
  return { book, user, says, call, result, runs }
}

test('what the agent said and did stands in the order in which it happened', () => {
  const { book, user, says, runs } = session()
  user('Fix the build')
  says('The build fails because a module is missing. Let me add it.')
  runs('npm install left-pad', 'added 1 package')
  says('The module is there, and the build works again.')
  runs('npm run build', 'done')
  expect(book.ledger().exchanges).toMatchObject([
    {
      report: 'The module is there, and the build works again.',
      steps: [
        { type: 'said', text: 'The build fails because a module is missing.' },
        { type: 'did', text: 'ran `npm install left-pad` → ok: added 1 package' },
        { type: 'said', text: 'The module is there, and the build works again.' },
        { type: 'did', text: 'ran `npm run build` → ok: done' },
      ],
    },
  ])
})

test('a step taken again with the same outcome stands once, where it was taken last', () => {
  const { book, user, runs } = session()
  user('Go')
  runs('npm run build', 'done')
  runs('npm install x', 'added 1 package')
  runs('npm run build', 'done')
  expect(book.ledger().exchanges[0]?.steps?.map(({ text }) => text)).toEqual([
    'ran `npm install x` → ok: added 1 package',
    'ran `npm run build` → ok: done',
  ])
})

test('only the latest looks are kept', () => {
  const { book, user, runs } = session()
  user('Go')
  for (let at = 0; at < 20; at++) runs(`cat ${at}.txt`, `text ${at}`)
  const steps = book.ledger().exchanges[0]?.steps ?? []
  expect([steps.length, steps.at(0)?.text, steps.at(-1)?.text]).toEqual([
    12,
    'ran `cat 8.txt` → text 8',
    'ran `cat 19.txt` → text 19',
  ])
})

test('words beside a tool result are the user’s, unless the client marks the message as its own', () => {
  const { book, user, call, result } = session()
  user('Go')
  const beside = (text: string): readonly Block[] => [
    { type: 'tool_result', tool_use_id: call('Edit', { file_path: 'a.ts' }), content: 'ok' },
    { type: 'text', text },
  ]
  result(beside('and keep the old name'))
  result(beside('<system-reminder>x</system-reminder>'))
  result(beside('Base directory of this skill'), { isMeta: true })
  expect(book.ledger().exchanges.map(({ kind, text }) => [kind, text])).toEqual([
    ['message', 'Go'],
    ['queued', 'and keep the old name'],
  ])
})

test('a result that was cleared from the view is read from its record', () => {
  const { book, user, call, result } = session()
  user('Commit')
  const block = { type: 'tool_result', tool_use_id: call('Bash', { command: 'git commit -m "Start"' }) } as const
  const record = { message: { content: [{ ...block, content: '[main 1a2b3c4] Start' }] } }
  result([{ ...block, content: '[Old tool result content cleared]' }], record)
  expect(book.ledger().commits).toEqual([{ hash: '1a2b3c4', title: 'Start', last: 2 }])
})

test('what the agent says once an error is over, or only announces, does not explain it', () => {
  const { book, user, says, runs } = session()
  user('Go')
  runs('npm run build', 'Error: no module x', { isError: true })
  says('Let me look at the module.')
  runs('npm run build', 'done')
  says('Everything is finished and the build is green.')
  runs('npm run lint', 'Error: unused y', { isError: true })
  says('Let me look.')
  says('The variable y is left over from the old parser.')
  expect(book.ledger().errors.map(({ what, cause }) => [what, cause])).toEqual([
    ['npm run build', undefined],
    ['npm run lint', 'The variable y is left over from the old parser.'],
  ])
})
