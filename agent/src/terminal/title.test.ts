import { expect, test } from 'vitest'
import { startedState, withAsk, withdrawn } from './state/apply-event.ts'
import { firstState, type TerminalState } from './state/state.ts'
import { createStore } from './store.ts'
import { showTitle } from './title.ts'

const hello = {
  state: { isBusy: false, sessionId: 's', mode: 'ask', model: 'm', queued: [], tasks: [] },
  ...{ commands: [], past: [], notices: [] },
} as const
const request = { toolUseId: 't1', tool: 'Bash', title: 'Run npm test' }
const asking = (state: TerminalState, id: number) => withAsk(state, id, { type: 'permission', request })

type Given = { readonly folder?: string; readonly isTTY?: boolean; readonly env?: Record<string, string> }

/** What is written while these states follow each other. */
function written(states: readonly TerminalState[], { folder = '/work/shop', isTTY = true, env = {} }: Given = {}) {
  const store = createStore(firstState)
  const texts: string[] = []
  const stdout = { isTTY, write: (text: string) => texts.push(text) > 0 } as never
  const end = showTitle({ store, stdout, env, folder })
  for (const state of states) store.update(() => state, 'now')
  end()
  store.update(() => asking(ready, 9), 'now')
  return texts
}

const ready = startedState(firstState, hello, 0)
const [save, title, question] = ['\u001b[22;2t', '\u001b]2;shop · Everlong\u0007', '\u001b]2;? shop · Everlong\u0007']
const restore = '\u001b]2;\u0007\u001b[23;2t'

test('the title names the project, has a mark while a question waits, and is restored at the end', () => {
  expect(written([ready])).toEqual([save, title, restore])
  expect(written([ready, asking(ready, 1), withdrawn(asking(ready, 1), 1)])).toEqual([
    ...[save, title, question, '\u0007', title, restore],
  ])
})

test('the bell rings once for questions that wait together, and again for the next', () => {
  const both = asking(asking(ready, 1), 2)
  const states = [asking(ready, 1), both, withdrawn(both, 1), ready, asking(ready, 3)]
  expect(written(states).filter((text) => text === '\u0007')).toHaveLength(2)
})

test('the bell is silent where the settings say so, before they are known, and without a terminal', () => {
  const silent = startedState(firstState, { ...hello, bell: false }, 0)
  for (const state of [silent, firstState])
    expect(written([state, asking(state, 1)])).toEqual([save, title, question, restore])
  expect(written([ready, asking(ready, 1)], { isTTY: false })).toEqual([])
  expect(written([ready, asking(ready, 1)], { env: { TERM: 'linux' } })).toEqual(['\u0007'])
})

test('the name of a folder cannot end the title or begin another sequence, and is cut', () => {
  const [, shown] = written([], { folder: '/work/a\u0007b\u001b]0;evil\u001b\\c\u009cd' })
  expect(shown?.slice(4, -1)).toMatch(/^[^\p{Cc}]+ · Everlong$/u)
  const [, long] = written([], { folder: `/work/${'x'.repeat(200)}` })
  expect(long).toBe(`\u001b]2;${'x'.repeat(59)}… · Everlong\u0007`)
  expect(written([], { folder: '/' })[1]).toBe('\u001b]2;/ · Everlong\u0007')
})
