// Text from models, tools, files and servers, in every place where the screen shows it: nothing of it may steer the terminal, and
// every place fits every width.
import { expect, test } from 'vitest'
import type { AgentState } from '../../app.ts'
import { columnsOf } from '../../render/width.ts'
import type { FinishedCall } from '../host/protocol.ts'
import { editorWith } from '../input/editor.ts'
import { applyEvent, withAsk } from '../state/apply-event.ts'
import { type Content, type Detail, firstState, sheetOf, type TerminalState, withDetail } from '../state/state.ts'
import { itemLines } from './items.ts'
import { drawLive } from './live.ts'

/** Clears the screen, sets the title, turns the direction of writing, and adds a line: all of it must be gone. */
const hostile = (name: string) => `${name} \u001b[2J\u001b]0;owned\u0007\u009b1A\u202e\r\u0000\u2028 end`

const call: FinishedCall = {
  id: 't',
  name: hostile('call'),
  subject: hostile('subject'),
  input: hostile('input'),
  outcome: hostile('outcome'),
  output: hostile('output'),
  diff: `--- a\n+++ b\n@@ -1 +1 @@\n-${hostile('old')}\n+${hostile('new')}\n`,
  isError: false,
}
const agent: AgentState = {
  ...{ isBusy: true, sessionId: 's', mode: 'ask', model: hostile('model'), title: hostile('title') },
  queued: [{ text: hostile('queued') }],
  tasks: [{ id: 't', title: hostile('task'), isRunning: true }],
}
const state: TerminalState = {
  ...{ ...firstState, agent, answer: hostile('answer'), hint: hostile('hint'), size: { columns: 100, rows: 60 } },
  running: [{ call, startedAt: 0, steps: 1 }],
  editor: editorWith(hostile('typed')),
}
const permission = (detail: 'diff' | 'text') => {
  const text = detail === 'diff' ? (call.diff ?? '') : hostile('command')
  const request = { toolUseId: 't', tool: hostile('tool'), title: hostile('title'), reason: hostile('reason') }
  return withAsk(state, 1, {
    type: 'permission',
    request: { ...request, rules: [hostile('rule')], detail: { type: detail, text } },
  })
}
const answers = { yes: hostile('yes'), no: hostile('no') }
const trust = { toolUseId: '', tool: 'Settings', title: 'Trust', answers }
const questions = [
  {
    question: hostile('question'),
    options: [{ label: hostile('label'), description: hostile('description') }],
    isMultiple: true,
  },
]
const choices = [{ label: hostile('label'), detail: hostile('detail'), command: hostile('command') }]
const picker = { type: 'picker', title: hostile('picker'), choices, filter: '', selected: 0 } as const
const receipt = {
  ...{ uuid: 'u', trigger: hostile('trigger'), mechanism: hostile('mechanism'), model: hostile('model') },
  ...{ before: 2, after: 1, durationMs: 1, instructions: hostile('instructions'), summary: hostile('summary') },
  ...{ kept: { total: 1, verbatim: 1 }, annotations: [{ text: hostile('marked'), reason: hostile('reason') }] },
  ...{ restored: [{ kind: hostile('kind'), title: hostile('restored') }], notRestored: hostile('gone') },
}
const original = [{ role: hostile('role'), text: hostile('original'), isCut: true }]
const viewing = (detail: Detail): TerminalState => ({
  ...withDetail(state, detail),
  overlay: { type: 'viewer', at: 0, top: 0 },
})
const retrying = { type: 'retrying', attempt: 1, waitMs: 1, why: hostile('why') } as const

const places: readonly (readonly [string, TerminalState])[] = [
  ['the prompt, what runs and what is queued', state],
  ['a completion menu', { ...state, editor: editorWith('@a'), found: { typed: 'a', files: [hostile('file')] } }],
  ['the status of a command', { ...state, command: hostile('/command') }],
  ['the status of a retry', applyEvent(state, retrying, 0)],
  ['the status of a compaction', { ...state, compaction: { startedAt: 0, tokens: 1, phase: 'summarizing' } }],
  ['a permission with a command', permission('text')],
  ['a permission with a diff', permission('diff')],
  ['a question about trust', withAsk(state, 1, { type: 'permission', request: trust })],
  ['questions of the agent', withAsk(state, 1, { type: 'questions', questions })],
  ['a list to choose from', { ...state, overlay: picker }],
  ['a call in full', viewing({ type: 'call', call })],
  ['a receipt in full', viewing({ type: 'receipt', receipt, line: hostile('line'), original })],
]

test.each(places)('%s', (_, shown) => {
  const { lines } = drawLive(shown, 0)
  expect(lines.join('')).toContain('end')
  expect(lines.filter((line) => /[\p{Cc}\u2028\u202e]/u.test(line))).toEqual([])
})

const contents: readonly Content[] = [
  { type: 'welcome', folder: hostile('folder') },
  { type: 'prompt', prompt: { text: hostile('prompt') } },
  { type: 'prompt', prompt: { text: Array.from({ length: 30 }, () => hostile('line')).join('\n') } },
  { type: 'answer', text: `# ${hostile('heading')}\n\n- ${hostile('item')}\n\n\`\`\`\n${hostile('code')}\n\`\`\`\n` },
  { type: 'answer', text: `| ${hostile('a')} | b |\n| --- | --- |\n| [${hostile('c')}](${hostile('url')}) | d |\n` },
  { type: 'call', call },
  { type: 'receipt', line: hostile('receipt') },
  ...(['notice', 'trouble', 'output', 'announcement'] as const).map((type) => ({ type, text: hostile(type) })),
  {
    type: 'setup',
    why: hostile('why'),
    setup: { title: hostile('title'), steps: [{ title: hostile('step'), commands: [hostile('command')] }] },
  },
]

test.each(contents.map((content) => [content.type, content] as const))('in the scrollback: %s', (_, content) => {
  const lines = itemLines({ ...content, hasGap: false }, sheetOf(state))
  expect(lines.join('')).toContain('end')
  expect(lines.filter((line) => /[\p{Cc}\u2028\u202e]/u.test(line))).toEqual([])
})

const widths = [20, 40, 80, 200]
/** Characters of two columns, of none and of several code points, in words that are longer than any line. */
const wide = (name: string) => `${name} ${'会話の要約👩‍💻e\u0301한국어'.repeat(30)} ${'long '.repeat(60)}end`

/** The same value with wide text in place of hostile text. */
function widened<T>(value: T): T {
  const texts = JSON.stringify(value).replaceAll(/"([^"\\]*) \\u001b\[2J[^"]*"/g, (_, name) =>
    JSON.stringify(wide(name)),
  )
  return JSON.parse(texts)
}

test.each(places)('fits every width: %s', (_, shown) => {
  const large = widened(shown)
  expect(JSON.stringify(large)).toContain('会話')
  for (const columns of widths) {
    for (const rows of [16, 60]) {
      const { lines } = drawLive({ ...large, size: { columns, rows } }, 0)
      expect({ columns, tooWide: lines.filter((line) => columnsOf(line) > columns) }).toEqual({ columns, tooWide: [] })
      expect(lines.length).toBeLessThan(rows)
    }
  }
})

test.each(contents.map((content) => [content.type, content] as const))(
  'fits every width in the scrollback: %s',
  (_, content) => {
    for (const columns of widths) {
      const sheet = sheetOf({ ...state, size: { columns, rows: 40 } })
      // Commands to be copied stay whole.
      const lines = itemLines({ ...widened(content), hasGap: false }, sheet).filter((line) => !/^ +command/.test(line))
      expect({ columns, tooWide: lines.filter((line) => columnsOf(line) > columns) }).toEqual({ columns, tooWide: [] })
    }
  },
)
