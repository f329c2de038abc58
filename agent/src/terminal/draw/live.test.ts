// The screen below the scrollback, drawn at several sizes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentState } from '../../app.ts'
import { columnsOf } from '../../render/width.ts'
import type { GaugeReading } from '../host/protocol.ts'
import { editorWith } from '../input/editor.ts'
import { withAsk } from '../state/apply-event.ts'
import { firstState, type TerminalState } from '../state/state.ts'
import { drawLive } from './live.ts'

const agent: AgentState = { isBusy: false, sessionId: 's', mode: 'ask', model: 'claude-opus-5', queued: [], tasks: [] }
const gauge: GaugeReading = {
  state: 'ok',
  percentLeft: 78,
  tokens: 36_700,
  limit: 167_000,
  isAutoCompactOn: true,
  isEstimated: true,
  turnsLeft: 9,
}
const ready: TerminalState = { ...firstState, agent, gauge }
const at = (columns: number, rows = 24) => ({ size: { columns, rows } })

describe('the gauge', () => {
  test('says what is left, the tokens, that they are estimated, and when to expect a compaction', () => {
    const { lines } = drawLive({ ...ready, ...at(120) }, 0)
    const left = '██░░░░░░ 78 % left · 36,700 of 167,000 tokens (estimated) · compacts in ~9 turns'
    const right = 'ask mode · claude-opus-5'
    expect(lines.at(-1)).toBe(left.padEnd(120 - right.length) + right)
  })

  test('says the limit in 80 columns beside the long name of a model, estimated or not', () => {
    const model = 'simulator:claude-opus-4-5'
    const drawn = [true, false].map((isEstimated) => {
      const state = { ...ready, agent: { ...agent, model }, gauge: { ...gauge, isEstimated }, ...at(80) }
      return drawLive(state, 0).lines.at(-1)?.split(/ {2,}/)
    })
    expect(drawn).toEqual([
      ['██░░░░░░ 78 % left · 36.7k of 167k est.', `ask mode · ${model}`],
      ['██░░░░░░ 78 % left · 36.7k of 167k', `ask mode · ${model}`],
    ])
  })

  test('takes two lines in 40 columns, and still says that it is estimated', () => {
    const words = [40, 38].map((columns) => drawLive({ ...ready, ...at(columns) }, 0).lines.slice(-2))
    expect(words).toEqual([
      ['██░░░░░░ 78 % left · 36.7k of 167k est.', 'ask mode · claude-opus-5'],
      ['██░░░░░░ 78 % left · 36.7k est.', 'ask mode · claude-opus-5'],
    ])
  })
})

describe('an overloaded provider', () => {
  const retry = { attempt: 3, why: 'Overloaded', until: 12_000 }
  const busy = { ...ready, agent: { ...agent, isBusy: true }, retry, ...at(80) }
  const status = (state: TerminalState, now: number) => drawLive(state, now).lines[1]?.slice(2)

  test('shows how long until the next attempt, second by second, and how to stop', () => {
    expect([0, 11_001, 12_000].map((now) => status(busy, now))).toEqual([
      'Overloaded. Trying again in 12 s (attempt 4). Esc stops.',
      'Overloaded. Trying again in 1 s (attempt 4). Esc stops.',
      'Overloaded. Trying again (attempt 4). Esc stops.',
    ])
  })

  test('is shown during a compaction too, but not for one that nobody waits for', () => {
    const compaction = { startedAt: 0, tokens: 150_000, phase: 'summarizing' }
    expect(status({ ...busy, compaction }, 0)).toBe('Overloaded. Trying again in 12 s (attempt 4). Esc stops.')
    expect(drawLive({ ...busy, agent }, 0).lines.join('\n')).not.toContain('Overloaded')
  })
})

test('a compaction shows its phase, tokens, time and how to cancel it', () => {
  const compaction = { startedAt: 0, tokens: 150_000, phase: 'summarizing', outputTokens: 1_200 }
  const { lines } = drawLive({ ...ready, compaction }, 7_400)
  expect(lines.slice(1, 3)).toEqual([
    '⠙ Compacting 150,000 tokens: summarizing, 1,200 tokens written, 7 s',
    '  Esc to cancel',
  ])
})

test('the cursor is where the text continues, also in wrapped lines and after wide characters', () => {
  const draw = (text: string) => drawLive({ ...ready, ...at(20), editor: editorWith(text) }, 0).cursor
  expect(draw('ab')).toEqual({ x: 4, y: 2 })
  expect(draw('日本')).toEqual({ x: 6, y: 2 })
  expect(draw('a'.repeat(20))).toEqual({ x: 5, y: 3 })
  expect(draw('one\ntwo')).toEqual({ x: 5, y: 3 })
})

test('whatever is shown, in whatever size, no line is too wide and the screen is never full', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 300 })
  const request = fc.record({ title: text, text })
  fc.assert(
    fc.property(
      fc.integer({ min: 20, max: 130 }),
      fc.integer({ min: 16, max: 50 }),
      fc.record({ editor: text, answer: text, queued: fc.array(text, { maxLength: 5 }), request: fc.option(request) }),
      (columns, rows, shown) => {
        const state: TerminalState = {
          ...ready,
          ...at(columns, rows),
          editor: editorWith(shown.editor),
          answer: shown.answer,
          agent: { ...agent, isBusy: true, queued: shown.queued.map((each) => ({ text: each })) },
        }
        const { request: given } = shown
        const drawn = given
          ? withAsk(state, 1, {
              type: 'permission',
              request: {
                toolUseId: 't',
                tool: 'Bash',
                title: given.title.slice(0, 60),
                detail: { type: 'text', text: given.text },
              },
            })
          : state
        const { lines } = drawLive(drawn, 0)
        expect(lines.filter((line) => columnsOf(line) > columns)).toEqual([])
        expect(lines.length).toBeLessThan(rows)
      },
    ),
  )
})

test('the list of keys fits every screen, and says when it is not all of them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 130 }), fc.integer({ min: 16, max: 50 }), (columns, rows) => {
      const { lines } = drawLive({ ...ready, ...at(columns, rows), showsKeys: true, statusLine: 'mine' }, 0)
      expect(lines.filter((line) => columnsOf(line) > columns)).toEqual([])
      expect(lines.length).toBeLessThan(rows)
    }),
  )
  const drawn = [
    drawLive({ ...ready, ...at(80), showsKeys: true }, 0),
    drawLive({ ...ready, ...at(36), showsKeys: true }, 0),
  ]
  const texts = drawn.map(({ lines }) => lines.join('\n'))
  expect(texts.map((text) => ['Ctrl+Y', 'Ctrl+Z', 'A higher window'].map((word) => text.includes(word)))).toEqual([
    [true, true, false],
    [true, false, true],
  ])
})

test('of an answer that is longer than the screen, the newest lines are shown', () => {
  const answer = Array.from({ length: 40 }, (_, nth) => `Line ${nth} of it.`).join('\n\n')
  const shown = drawLive({ ...ready, ...at(60, 14), answer }, 0).lines.join('\n')
  expect(shown).toContain('Line 39 of it.')
  expect(shown).not.toContain('Line 0 of it.')
})

test('a list to choose from says how many are below, until the last is on the screen', () => {
  const choices = Array.from({ length: 20 }, (_, nth) => ({ label: `model ${nth}`, command: `/model ${nth}` }))
  const lastLine = (selected: number, filter = '') => {
    const overlay = { type: 'picker', title: 'Which model?', choices, filter, selected } as const
    return drawLive({ ...ready, ...at(80, 24), overlay }, 0).lines.find((line) => line.includes('Enter chooses'))
  }
  expect([lastLine(0), lastLine(10), lastLine(19), lastLine(0, 'model 7')]).toEqual([
    '… and 12 more. Enter chooses, Esc closes, typing filters.',
    '… and 6 more. Enter chooses, Esc closes, typing filters.',
    'Enter chooses, Esc closes, typing filters.',
    'Enter chooses, Esc closes, typing filters.',
  ])
})

test('a viewer that was scrolled past its end, because the screen grew, shows the end', () => {
  const output = Array.from({ length: 30 }, (_, nth) => `row ${nth}`).join('\n')
  const call = { id: 't', name: 'Bash', subject: 'ls', outcome: '30 lines', input: 'ls', output, isError: false }
  const drawn = (top: number) =>
    drawLive({ ...ready, ...at(60, 24), details: [{ type: 'call', call }], overlay: { type: 'viewer', at: 0, top } }, 0)
      .lines
  expect(drawn(500).join('\n')).toContain('row 29')
  expect(drawn(500)).toHaveLength(drawn(0).length)
})

test('a running command shows its newest lines and how many came before, a sub-agent its newest call', () => {
  const call = { id: 'a', name: 'Bash', subject: 'npm test', input: '' }
  const output = { lines: ['ok 8', 'ok\u001b[2J 9 \u202e'], total: 9 }
  const task = { id: 'b', name: 'Task', subject: 'explore: Find it', input: '' }
  const step = { id: 'c', name: 'Grep', subject: '“x”', input: '' }
  const running = [
    { call, startedAt: 0, steps: 0, output },
    { call: task, startedAt: 0, steps: 2, step },
  ]
  const { lines } = drawLive({ ...ready, ...at(60), running }, 3_000)
  expect(lines.slice(1, 7)).toEqual([
    '○ Bash npm test · 3 s',
    '  … 7 lines before',
    '  ok 8',
    expect.stringMatching(/^ {2}ok/),
    '○ Task explore: Find it · 2 calls, 3 s',
    '  Grep “x”',
  ])
  expect(['\u001b', '\u202e'].filter((each) => lines.join('').includes(each))).toEqual([])
})

describe('the list of steps', () => {
  const busy = { ...ready, agent: { ...agent, isBusy: true }, busySince: 0 }
  const steps = (statuses: string) =>
    [...statuses].map((letter, nth) => ({
      text: `step ${nth}`,
      status:
        letter === 'x' ? ('completed' as const) : letter === '>' ? ('in_progress' as const) : ('pending' as const),
    }))
  const drawn = (state: TerminalState) => {
    const { lines } = drawLive(state, 0)
    const start = lines.findIndex((line) => line.startsWith('Steps:'))
    return start < 0
      ? []
      : lines.slice(
          start,
          lines.findIndex((line) => line.startsWith('─')),
        )
  }

  test('is above the prompt while a turn runs and something is open', () => {
    expect(drawn({ ...busy, todos: steps('x>--') })).toEqual([
      'Steps: 1 of 4 done',
      '  ▸ step 1',
      '  ☐ step 2',
      '  ☐ step 3',
    ])
    expect([drawn({ ...ready, todos: steps('x>') }), drawn({ ...busy, todos: steps('xx') }), drawn(busy)]).toEqual([
      [],
      [],
      [],
    ])
  })

  test('takes five lines at most, fewer in a low window, with what is in progress first', () => {
    expect(drawn({ ...busy, todos: steps('x----') })).toHaveLength(5)
    expect(drawn({ ...busy, todos: steps('x---->') })).toEqual([
      'Steps: 1 of 6 done',
      '  ▸ step 5',
      '  ☐ step 1',
      '  ☐ step 2',
      '  and 2 more',
    ])
    expect(drawn({ ...busy, ...at(80, 12), todos: steps('x---->') })).toEqual([
      'Steps: 1 of 6 done',
      '  ▸ step 5',
      '  and 4 more',
    ])
    expect(drawn({ ...busy, todos: [{ text: 'a\u001b[2Jb\n', status: 'pending' }] })[1]).toBe('  ☐ ab')
  })
})

test('of many running calls five are shown, and the rest is counted', () => {
  const running = Array.from({ length: 7 }, (_, index) => ({
    call: { id: String(index), name: 'Bash', subject: `job ${index}`, input: '' },
    startedAt: 0,
    steps: 0,
    output: { lines: ['x'], total: 1 },
  }))
  const { lines } = drawLive({ ...ready, ...at(60, 40), running }, 0)
  expect(lines.filter((line) => line.includes('job'))).toHaveLength(5)
  expect(lines).toContain('  and 2 more')
})

describe('a question about a command', () => {
  const ask = (title: string, text: string) => {
    const request = { toolUseId: 't1', tool: 'Bash', title, detail: { type: 'text', text } } as const
    const call = { id: 't1', name: 'Bash', subject: text, input: '' }
    const other = { id: 't2', name: 'Task', subject: 'explore: Look', input: '' }
    const running = [call, other].map((each) => ({ call: each, startedAt: 0, steps: 0 }))
    return drawLive(
      withAsk({ ...ready, agent: { ...agent, isBusy: true }, running }, 1, { type: 'permission', request }),
      0,
    )
  }

  test('shows the command once, and other calls that run', () => {
    expect(ask('Run npm test', 'npm test').lines.slice(1, 5)).toEqual([
      '○ Task explore: Look · 0 s',
      '─'.repeat(80),
      'Run npm test',
      '',
    ])
  })

  test('shows one of several lines once, in full', () => {
    const { lines } = ask('Run cd a …', 'cd a\nnpm test')
    expect(lines.slice(2, 7)).toEqual(['─'.repeat(80), 'Run this command:', '  cd a', '  npm test', ''])
  })

  test('says what the command wants to do if that is not only to run', () => {
    const { lines } = ask('Connect to example.com', 'curl example.com')
    expect(lines.slice(2, 6)).toEqual(['─'.repeat(80), 'Connect to example.com', '  curl example.com', ''])
  })
})
