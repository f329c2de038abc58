// What the agent does and what keys do, as changes of one value.
import { describe, expect, test } from 'vitest'
import type { AgentState } from '../../app.ts'
import type { Receipt } from '../../receipt.ts'
import type { FinishedCall, UiEvent } from '../host/protocol.ts'
import { editorWith } from '../input/editor.ts'
import type { Press } from '../input/keys.ts'
import { applyEvent, settle, startedState, withAsk, withdrawn } from './apply-event.ts'
import type { Effect } from './effects.ts'
import { press } from './press.ts'
import { permissionOptions } from './press-asks.ts'
import { firstState, type TerminalState, withoutPrinted } from './state.ts'

const idle: AgentState = { isBusy: false, sessionId: 's', mode: 'ask', model: 'm', queued: [], tasks: [] }
const ready: TerminalState = { ...firstState, agent: idle }
const call: FinishedCall = {
  id: 'c1',
  name: 'Read',
  subject: 'a.ts',
  input: '{}',
  output: 'x',
  outcome: '1 line',
  isError: false,
}

function after(state: TerminalState, ...events: readonly UiEvent[]): TerminalState {
  return events.reduce((before, event) => applyEvent(before, event, 0), state)
}

const task = { id: 'bash-1', title: 'Ticks', isRunning: true }

const contents = ({ items }: TerminalState) => items.map((item) => item && { ...item, hasGap: undefined })

describe('the time of a call', () => {
  const begun = applyEvent(ready, { type: 'call-started', call }, 1_000)
  const took = (state: TerminalState, now: number) =>
    contents(applyEvent(state, { type: 'call-finished', call }, now)).map((item) =>
      item?.type === 'call' ? item.call.tookMs : undefined,
    )
  const request = { toolUseId: 'c1', tool: 'Bash', title: 'Run it' }

  test('is known from one second on', () => {
    expect([took(begun, 1_999), took(begun, 2_000)]).toEqual([[undefined], [1_000]])
  })

  test('does not include the time in which the person was asked about it', () => {
    const asking = withAsk(begun, 7, { type: 'permission', request })
    expect(took(press(asking, { key: 'text', text: 'y' }, 60_000).state, 63_000)).toEqual([3_000])
    // Moving the selection is no answer.
    const moved = press(press(asking, { key: 'down' }, 50_000).state, { key: 'up' }, 55_000).state
    expect(took(moved, 63_000)).toEqual([62_000])
    const other = withAsk(begun, 7, { type: 'permission', request: { ...request, toolUseId: 'c2' } })
    expect(took(press(other, { key: 'text', text: 'y' }, 60_000).state, 63_000)).toEqual([62_000])
  })

  test('does not include the time of a question of the agent', () => {
    const asking = withAsk(begun, 7, {
      type: 'questions',
      questions: [{ question: 'Which?', options: [{ label: 'A' }], isMultiple: false }],
    })
    const answered = press(asking, { key: 'enter' }, 60_000).state
    expect(answered.asks).toEqual([])
    expect(took(answered, 60_500)).toEqual([undefined])
  })
})

describe('the end of a turn', () => {
  const texts = (event: UiEvent) =>
    contents(after(ready, event)).map((item) => (item?.type === 'notice' ? item.text : ''))

  test('is told with time and price if the turn took ten seconds or more', () => {
    expect(texts({ type: 'done', tookMs: 9_999, cost: 1 })).toEqual([])
    expect(texts({ type: 'done', tookMs: 10_000, cost: 0.056 })).toEqual(['Worked for 10 s, $0.0560.'])
    expect(texts({ type: 'done', tookMs: 200_000 })).toEqual(['Worked for 3 min.'])
    expect(texts({ type: 'done', tookMs: 10_000, cost: 0 })).toEqual(['Worked for 10 s.'])
  })
})

describe('events', () => {
  test('finished blocks of an answer go to the scrollback, and the rest when the answer is complete', () => {
    const streaming = settle(after(ready, { type: 'text', text: 'One.\n\nTw' }))
    expect([contents(streaming), streaming.answer]).toEqual([[{ type: 'answer', text: 'One.\n\n' }], 'Tw'])
    const done = after(streaming, { type: 'text', text: 'o.' }, { type: 'answer', text: 'One.\n\nTwo.' })
    expect([contents(done).at(-1), done.answer]).toEqual([{ type: 'answer', text: 'Two.' }, ''])
  })

  test('an answer that was not streamed is shown when it is complete', () => {
    expect(contents(after(ready, { type: 'answer', text: 'All at once.' }))).toEqual([
      { type: 'answer', text: 'All at once.' },
    ])
  })

  test('what a failed attempt streamed is forgotten when the request is sent again', () => {
    const retried = after(
      ready,
      { type: 'text', text: 'Half' },
      { type: 'retrying', attempt: 2, waitMs: 500, why: 'overloaded' },
      { type: 'restarted' },
    )
    expect([retried.answer, retried.retry]).toEqual(['', { attempt: 2, why: 'overloaded', until: 500 }])
  })

  test('a session counts as one to come back to once something was said in it', () => {
    const prompt = { type: 'prompt', prompt: { text: 'Hi' }, isQueued: false } as const
    const said = after(ready, prompt)
    const other = after(said, { type: 'session', title: 'new', past: [] })
    const resumed = after(other, { type: 'session', title: 'old', past: [prompt] })
    expect([ready, said, other, resumed].map(({ hasSaid }) => hasSaid)).toEqual([false, true, false, true])
    expect(after(ready, { ...prompt, isQueued: true }).hasSaid).toBe(false)
  })

  test('a compaction that is sent again leaves the answer alone, and the wait ends with the first sign of life', () => {
    const retry = { type: 'retrying', attempt: 2, waitMs: 500, why: 'overloaded' } as const
    const retried = after(ready, { type: 'text', text: 'Half' }, retry)
    expect([retried.answer, retried.retry?.attempt]).toEqual(['Half', 2])
    expect(after(retried, { type: 'retry-over' }).retry).toBeUndefined()
  })

  test('a call runs, then it is one folded item that can be expanded', () => {
    const running = after(ready, { type: 'call-started', call })
    expect(running.running).toEqual([{ call, startedAt: 0, steps: 0 }])
    const finished = after(running, { type: 'call-finished', call })
    expect([finished.running, contents(finished), finished.details]).toEqual([
      [],
      [{ type: 'call', call }],
      [{ type: 'call', call }],
    ])
  })

  test("a sub-agent's calls are counted on the call that runs it", () => {
    const inner = { ...call, id: 'c2', parent: 'c1' }
    const events: readonly UiEvent[] = [
      { type: 'call-started', call },
      { type: 'call-started', call: inner },
      { type: 'call-finished', call: inner },
    ]
    const state = after(ready, ...events)
    expect([state.running, contents(state)]).toEqual([[{ call, startedAt: 0, steps: 1, step: inner }], []])
    const second = { ...inner, id: 'c3' }
    expect(after(state, { type: 'call-started', call: second }).running).toMatchObject([{ steps: 2, step: second }])
  })

  test('the newest output replaces the one before, on its own call only, and is gone with it', () => {
    const other = { ...call, id: 'c2' }
    const output = (id: string, line: string, total: number) =>
      ({ type: 'call-output', id, lines: [line], total }) as const
    const running = [call, other].map((each) => ({ type: 'call-started', call: each }) as const)
    const state = after(ready, ...running, output('c1', 'one', 1), output('c1', 'two', 2), output('gone', 'x', 1))
    expect(state.running.map(({ output: shown }) => shown)).toEqual([{ lines: ['two'], total: 2 }, undefined])
    expect(after(state, { type: 'call-finished', call }).running).toMatchObject([{ call: other }])
  })

  test('a compaction has phases, and ends with a receipt that can be expanded', () => {
    const receipt = { uuid: 'r' } as Receipt
    const started = after(ready, {
      type: 'engine',
      event: { type: 'compaction-started', trigger: 'auto', tokens: 900 },
    })
    const writing = after(started, {
      type: 'engine',
      event: { type: 'compaction-progressed', phase: 'summarizing', outputTokens: 40 },
    })
    expect(writing.compaction).toEqual({ startedAt: 0, tokens: 900, phase: 'summarizing', outputTokens: 40 })
    const done = after(writing, { type: 'receipt', receipt, line: 'Compacted' })
    expect([done.compaction, contents(done), done.details]).toEqual([
      undefined,
      [{ type: 'receipt', line: 'Compacted' }],
      [{ type: 'receipt', receipt, line: 'Compacted' }],
    ])
  })

  test('over 2,000 turns the state does not grow', () => {
    const sizeAfter = (turns: number) => {
      let state = ready
      for (let turn = 0; turn < turns; turn++) {
        const output = `result ${turn % 10} `.repeat(100)
        state = after(
          state,
          { type: 'prompt', prompt: { text: 'Go on.' }, isQueued: false },
          { type: 'call-started', call },
          { type: 'call-finished', call: { ...call, output } },
          { type: 'answer', text: 'Done.\n\nNext.' },
        )
        state = withoutPrinted(state, state.items.length)
      }
      return JSON.stringify({ ...state, items: [] }).length
    }
    expect(sizeAfter(2_000)).toBe(sizeAfter(100))
  })
})

/** The state and the effects after these keys, pressed one second apart. */
function pressed(state: TerminalState, ...keys: readonly (string | Press)[]) {
  const effects: Effect[] = []
  let now = 0
  let current = state
  for (const key of keys) {
    now += 1_000
    const step = press(current, typeof key === 'string' ? { key } : key, now)
    current = step.state
    effects.push(...step.effects)
  }
  return { state: current, effects }
}

const typed = (text: string): Press => ({ key: 'text', text })
const commands = [
  { name: 'compact', usage: '[instructions]', description: 'summarizes' },
  { name: 'context', description: 'shows' },
  { name: 'recall', usage: '<words>', description: 'searches' },
]

describe('keys at the prompt', () => {
  test('Enter sends, a backslash before it starts a new line', () => {
    const { state, effects } = pressed(ready, typed('one\\'), 'enter', typed('two'), 'enter')
    expect([state.editor.text, effects]).toEqual([
      '',
      [{ type: 'submit', prompt: { text: 'one\ntwo' }, shown: 'one\ntwo' }],
    ])
  })

  test('a command is completed, chosen with arrows, and waits for its words where it needs them', () => {
    const open = { ...ready, commands }
    expect(pressed(open, typed('/co'), 'down', 'enter').effects).toEqual([{ type: 'command', line: '/context' }])
    expect(pressed(open, typed('/co'), 'tab').state.editor.text).toBe('/compact ')
    expect(pressed(open, typed('/re'), 'enter').state.editor.text).toBe('/recall ')
  })

  test('the history goes back and forth, and the draft is there again', () => {
    const state = { ...ready, history: ['first', 'second'] }
    const back = pressed(state, typed('draft'), 'up', 'up')
    expect(back.state.editor.text).toBe('first')
    expect(pressed(back.state, 'down', 'down').state.editor.text).toBe('draft')
  })

  test('Ctrl+R searches the history, and what is chosen goes into the prompt', () => {
    const state = { ...ready, history: ['fix the parser', 'run the tests', 'fix the parser'] }
    const open = pressed(state, 'ctrl+r').state.overlay
    expect(open?.type === 'picker' && open.choices.map(({ label }) => label)).toEqual([
      'fix the parser',
      'run the tests',
    ])
    const { state: chosen, effects } = pressed(state, 'ctrl+r', { key: 'text', text: 'run' }, 'enter')
    expect([chosen.editor.text, chosen.overlay, effects]).toEqual(['run the tests', undefined, []])
  })

  test('an @ looks for files, and Tab or Enter puts one in where the cursor is', () => {
    const typing = pressed({ ...ready, editor: editorWith('look at ') }, { key: 'text', text: '@pa' })
    expect(typing.effects).toEqual([{ type: 'find-files', typed: 'pa' }])
    const found = { ...typing.state, found: { typed: 'pa', files: ['src/parser.ts', 'src/paths.ts'] } }
    expect(pressed(found, 'tab').state.editor.text).toBe('look at @src/parser.ts ')
    const { state, effects } = pressed(found, 'down', 'enter')
    expect([state.editor.text, effects]).toEqual(['look at @src/paths.ts ', []])
    // Files for something else than what is typed now are not offered, and an address is no file.
    expect(pressed({ ...found, editor: editorWith('@pars') }, 'tab').state.editor.text).toBe('@pars')
    expect(pressed(ready, { key: 'text', text: 'me@pa' }).effects).toEqual([])
  })

  test('Up takes back what is queued, and Esc interrupts', () => {
    const busy = { ...ready, agent: { ...idle, isBusy: true, queued: [{ text: 'later' }] } }
    expect(pressed(busy, 'up').effects).toEqual([{ type: 'take-queued' }])
    expect(pressed(busy, 'escape').effects).toEqual([{ type: 'interrupt' }])
  })

  test('Ctrl+C clears the text; only the second one in a row quits', () => {
    const cleared = press({ ...ready, editor: editorWith('text') }, { key: 'ctrl+c' }, 0)
    expect([cleared.state.editor.text, cleared.effects]).toEqual(['', []])
    expect(press(cleared.state, { key: 'ctrl+c' }, 500).effects).toEqual([{ type: 'quit' }])
    expect(press(cleared.state, { key: 'ctrl+c' }, 5_000).effects).toEqual([])
    const typing = press(cleared.state, { key: 'text', text: 'new' }, 500)
    const clearedAgain = press(typing.state, { key: 'ctrl+c' }, 1_000)
    expect([clearedAgain.state.editor.text, clearedAgain.effects]).toEqual(['', []])
    expect(press(clearedAgain.state, { key: 'ctrl+c' }, 1_500).effects).toEqual([{ type: 'quit' }])
  })

  test('Esc twice in a row clears the text, and a key between them starts over', () => {
    const once = press({ ...ready, editor: editorWith('text') }, { key: 'escape' }, 0)
    expect(press(once.state, { key: 'escape' }, 500).state.editor.text).toBe('')
    const typing = press(once.state, { key: 'text', text: '!' }, 500)
    expect(press(typing.state, { key: 'escape' }, 1_000).state.editor.text).toBe('text!')
  })

  test('Esc twice on an empty prompt goes back to an earlier message, once something was said', () => {
    const said = { ...ready, hasSaid: true }
    const once = press(said, { key: 'escape' }, 0)
    expect([once.effects, once.state.hint]).toEqual([[], 'Press Esc again to go back to an earlier message.'])
    expect(press(once.state, { key: 'escape' }, 500).effects).toEqual([{ type: 'command', line: '/rewind' }])
    expect(press(once.state, { key: 'escape' }, 2_000).effects).toEqual([])
    expect(press(ready, { key: 'escape' }, 0).state.hint).toBe(undefined)
  })

  test.each([
    ['nothing runs', idle, undefined],
    ['the agent works', { ...idle, isBusy: true }, 'The agent is working. Press Ctrl+D again to quit.'],
    ['a task has ended', { ...idle, tasks: [{ ...task, isRunning: false }] }, undefined],
    [
      'a task runs',
      { ...idle, tasks: [task] },
      '1 task in the background would be stopped. Press Ctrl+D again to quit.',
    ],
  ])('Ctrl+D while %s', (_, agent, hint) => {
    const once = press({ ...ready, agent }, { key: 'ctrl+d' }, 0)
    const quit = [{ type: 'quit' }]
    expect([once.effects, once.state.hint]).toEqual([hint === undefined ? quit : [], hint])
    expect(press(once.state, { key: 'ctrl+d' }, 1_999).effects).toEqual(quit)
    expect(press(once.state, { key: 'ctrl+d' }, 2_000).effects).toEqual(hint === undefined ? quit : [])
  })

  test.each([
    ['/help', 'command'],
    ['/pin keep /etc/hosts', 'command'],
    ['/', 'command'],
    ['!/bin/ls', 'command'],
    ['/usr/bin/node is old', 'submit'],
    ['/etc/', 'submit'],
    ['//comment', 'submit'],
  ])('%s is sent as a %s', (text, type) => {
    const { effects } = pressed({ ...ready, completion: -1 }, typed(text), 'escape', 'enter')
    expect(effects.map((effect) => effect.type)).toEqual([type])
  })

  test('Shift+Tab goes through the modes', () => {
    expect(pressed(ready, 'shift+tab').effects).toEqual([{ type: 'set-mode', mode: 'accept-edits' }])
  })

  test('while the demo plays, only Esc does something', () => {
    const playing = { ...ready, isPlaying: true }
    expect(pressed(playing, typed('x'), 'enter').effects).toEqual([])
    expect(pressed(playing, 'escape').effects).toEqual([{ type: 'stop-playing' }])
  })
})

const request = {
  toolUseId: 't',
  tool: 'Bash',
  title: 'Run npm test',
  rules: ['Bash(npm test:*)'],
  places: ['project', 'user'],
} as const
const asking = withAsk(ready, 7, { type: 'permission', request })

describe('dialogs', () => {
  test('a permission is allowed, always allowed, or denied with a reason', () => {
    expect(pressed(asking, 'enter').effects).toEqual([{ type: 'answer', id: 7, answer: { type: 'allow' } }])
    expect(pressed(asking, typed('a')).effects).toEqual([{ type: 'answer', id: 7, answer: { type: 'always' } }])
    const kept = ['p', 'u'].map((key) => pressed(asking, typed(key)).effects)
    expect(kept).toEqual(
      ['project', 'user'].map((place) => [{ type: 'answer', id: 7, answer: { type: 'always', place } }]),
    )
    expect(pressed(asking, typed('n'), typed('too slow'), 'enter').effects).toEqual([
      { type: 'answer', id: 7, answer: { type: 'deny', reason: 'too slow' } },
    ])
    expect(pressed(asking, typed('n'), 'escape', 'enter').state.asks).toMatchObject([{ id: 7, reason: { text: '' } }])
  })

  test('Shift+Tab accepts all edits where that is offered, and never moves to another answer', () => {
    const edit = { toolUseId: 't', tool: 'Edit', title: 'Edit a.ts', rules: ['Edit(/a.ts)'], offersEdits: true }
    const accepted = [{ type: 'answer', id: 7, answer: { type: 'accept-edits' } }]
    const editing = withAsk(ready, 7, { type: 'permission', request: edit })
    expect([pressed(editing, 'shift+tab').effects, pressed(editing, typed('e')).effects]).toEqual([accepted, accepted])
    expect(pressed(asking, 'shift+tab', 'enter').effects).toEqual([
      { type: 'answer', id: 7, answer: { type: 'allow' } },
    ])
    expect([pressed(asking, typed('e')).effects, pressed(editing, typed('a')).effects]).toEqual([[], []])
  })

  test('the answers to a plan say whether edits ask afterwards', () => {
    const labels = (offersEdits: boolean) =>
      permissionOptions({ toolUseId: 't', tool: 'ExitPlanMode', title: 'A plan', offersEdits }).map(
        ({ label, key }) => `${key} ${label}`,
      )
    expect(labels(true)).toEqual([
      'y Carry it out, and ask before each edit',
      'e Carry it out, and accept all edits in the workspace',
      'n Keep planning, and say what to change',
    ])
    expect(labels(false)).toEqual(['y Carry it out, and ask about nothing', 'n Keep planning, and say what to change'])
  })

  test('whether to trust a folder starts at no, and Esc, Enter and n mean no without a reason', () => {
    const trust = { toolUseId: '', tool: 'Settings', title: 'Trust it', answers: { yes: 'Trust', no: 'Do not' } }
    const state = withAsk(firstState, 7, { type: 'permission', request: trust })
    const no = [{ type: 'answer', id: 7, answer: { type: 'deny' } }]
    expect(['enter', 'escape'].map((key) => pressed(state, key).effects)).toEqual([no, no])
    expect(pressed(state, typed('n')).effects).toEqual(no)
    expect(pressed(state, typed('y')).effects).toEqual([{ type: 'answer', id: 7, answer: { type: 'allow' } }])
  })

  test('Ctrl+O prints the whole of what a permission is asked for, and the question stays', () => {
    const detail = { type: 'text', text: 'a\nb' } as const
    const state = withAsk(ready, 7, { type: 'permission', request: { ...request, detail } })
    const { state: after, effects } = pressed(state, 'ctrl+o')
    expect(after.items.at(-1)).toEqual({
      type: 'detail',
      title: 'Run npm test',
      detail: { type: 'text', text: 'a\nb' },
      hasGap: false,
    })
    expect([after.asks, effects]).toEqual([state.asks, []])
  })

  test('a dialog that comes up in the middle of a word takes no letter and no Enter for an answer', () => {
    const typing = press(ready, typed('y'), 1_000).state
    const surprised = withAsk(typing, 7, { type: 'permission', request })
    const { state, effects } = press(surprised, typed('es'), 1_200)
    expect([state.editor.text, state.asks.length, effects]).toEqual(['yes', 1, []])
    expect(press(state, typed('y'), 5_000).effects).toEqual([{ type: 'answer', id: 7, answer: { type: 'allow' } }])
  })

  test('a question that is no longer asked goes away', () => {
    expect(withdrawn(asking, 7).asks).toEqual([])
  })

  test('several answers are ticked with Space and sent with Enter', () => {
    const options = [{ label: 'A' }, { label: 'B' }]
    const state = withAsk(ready, 8, {
      type: 'questions',
      questions: [{ question: 'Which?', options, isMultiple: true }],
    })
    expect(pressed(state, typed(' '), 'down', typed(' '), 'enter').effects).toEqual([
      { type: 'answer', id: 8, answer: [['A', 'B']] },
    ])
  })

  test('each of several questions starts without ticks, at its first answer, and without the text typed before', () => {
    const options = [{ label: 'A' }, { label: 'B' }]
    const question = { question: 'Which?', options, isMultiple: true }
    const state = withAsk(ready, 8, { type: 'questions', questions: [question, question, question] })
    const second = pressed(state, 'down', typed(' '), 'enter').state
    const third = pressed(second, 'up', 'enter', typed('mine'), 'enter').state
    expect(pressed(third, 'enter').effects).toEqual([{ type: 'answer', id: 8, answer: [['B'], ['mine'], ['A']] }])
  })

  test('a picker filters, moves and runs what was chosen', () => {
    const choices = ['one', 'two', 'three'].map((label) => ({ label, command: `/resume ${label}` }))
    const state: TerminalState = {
      ...ready,
      overlay: { type: 'picker', title: 'Resume', choices, filter: '', selected: 0 },
    }
    expect(pressed(state, typed('t'), 'down', 'enter').effects).toEqual([
      { type: 'command', line: '/resume three', shown: '/resume three' },
    ])
    expect(pressed(state, 'escape').state.overlay).toBe(undefined)
  })
})

test('what is sent before the agent is there is shown as queued, and gone once it is', () => {
  const early = pressed({ ...firstState, editor: editorWith('hello') }, 'enter')
  expect(early.effects).toEqual([{ type: 'submit', prompt: { text: 'hello' }, shown: 'hello' }])
  expect([early.state.early, early.state.editor.text]).toEqual([[{ text: 'hello' }], ''])
  const started = startedState(early.state, { state: idle, commands: [], past: [], notices: [] }, 0)
  expect(started.early).toEqual([])
})
