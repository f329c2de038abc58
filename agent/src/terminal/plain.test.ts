import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { Controller } from './controller.ts'
import { show } from './plain.ts'
import { withAsk } from './state/apply-event.ts'
import { firstState, type TerminalState, withItem } from './state/state.ts'
import { createStore } from './store.ts'

/** What the plain view prints as these states follow each other. */
async function printedFor(states: readonly TerminalState[]): Promise<string> {
  const store = createStore(firstState)
  const stdout = new PassThrough()
  const never = new Promise<never>(() => undefined)
  const agent = { answer: () => undefined }
  const controller = { agent, ready: never, ended: never } as unknown as Controller
  const view = show({
    store,
    controller,
    env: {},
    folder: '/work',
    stdin: new PassThrough() as never,
    stdout: stdout as never,
  })
  for (const state of states) store.update(() => state, 'now')
  await view.end()
  stdout.end()
  return text(stdout)
}

const request = { toolUseId: 't1', tool: 'Bash', title: 'Run npm test' }
const asking = (...ids: readonly number[]) =>
  ids.reduce((state, id) => withAsk(state, id, { type: 'permission', request }), firstState)
const questionsIn = (printed: string) => printed.match(/^Permission: Run npm test$/gm)?.length

test('a question is printed once, and again when it is asked again', async () => {
  expect(questionsIn(await printedFor([asking(1), { ...asking(1), hint: 'x' }]))).toBe(1)
  expect(questionsIn(await printedFor([asking(1), firstState, asking(2)]))).toBe(2)
})

test('a list to choose from is printed each time it is opened', async () => {
  const overlay = { type: 'picker', title: 'Which session?', choices: [], filter: '', selected: 0 } as const
  const printed = await printedFor([{ ...firstState, overlay }, firstState, { ...firstState, overlay }])
  expect(printed.match(/^Which session\?$/gm)).toHaveLength(2)
})

test('of two questions in the same words, the second is printed after the first was answered', async () => {
  expect(questionsIn(await printedFor([asking(1, 2), asking(2)]))).toBe(2)
})

test('what is folded names the command that shows it, because there is no such key', async () => {
  const call = { id: 't1', name: '!', subject: 'ls', input: '', outcome: '30 lines', isError: false }
  const output = Array.from({ length: 30 }, (_, nth) => `row ${nth}`).join('\n')
  const failed = { ...call, name: 'Bash', output, isError: true }
  const contents = [
    { type: 'welcome', folder: '/work' },
    { type: 'receipt', line: 'Compacted 9 → 5 tokens' },
    { type: 'call', call: { ...call, output } },
    { type: 'call', call: failed },
  ] as const
  const printed = await printedFor([contents.reduce<TerminalState>(withItem, firstState)])
  expect(printed.match(/^.*\/details.*$/gm)).toEqual([
    '/help shows the commands, /details expands, Ctrl+C twice quits.',
    '  /details shows all of it. /undo takes it back.',
    '    … 10 more lines, /details shows them',
    '    … 24 lines before, /details shows them',
  ])
  expect(printed).not.toContain('Ctrl+O')
})

test('each retry is printed once', async () => {
  const retrying = (attempt: number) => ({ ...firstState, retry: { attempt, why: 'Overloaded', until: 0 } })
  const [first, second] = [retrying(1), retrying(2)]
  const printed = await printedFor([first, { ...first, hint: 'x' }, second])
  expect(printed.match(/Overloaded/g)).toHaveLength(2)
})
