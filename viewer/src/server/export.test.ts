import { session } from 'everlong/internal/testing'
import { expect, test } from 'vitest'
import { lossySession, viewOf } from '../testing/sessions.ts'
import { exportData, exportPage } from './export.ts'

const page = new Map([
  ['/index.html', { type: 'text/html', bytes: Buffer.from('<p>not used</p>') }],
  ['/assets/a.js', { type: 'text/javascript', bytes: Buffer.from('const end = "</script>"') }],
  ['/assets/a.css', { type: 'text/css', bytes: Buffer.from('p { color: red }') }],
])

test('it has everything that the page shows, and the comment', async () => {
  const view = viewOf(lossySession())
  const data = await exportData(view, { comment: 'Look at compaction 1.', agents: [] })
  expect(data.comment).toBe('Look at compaction 1.')
  expect(data.session).toEqual(view.data())
  expect(data.items).toHaveLength(view.conversation.count)
  expect(data.lost.facts).toHaveLength(7)
  expect(data.compactions.map(({ data }) => data.row.number)).toEqual([1])
})

test('secrets are replaced, wherever they are', async () => {
  const key = `sk-ant-api03-${'A1b2'.repeat(10)}`
  const text = session({ cwd: `/home/${key}` })
    .user(`Never deploy with ${key}.`)
    .toolUse('t1', 'Bash', { command: `curl -H "x-api-key: ${key}"` })
    .toolResult('t1', `password=hunter2secret ${key}`)
    .assistant(`I used ${key}.`)
    .boundary()
    .summary(`1. The key is ${key}.`)
    .user('Go on.')
    .assistant('Yes.').text
  const html = exportPage(await exportData(viewOf(text), { comment: `My ${key}`, agents: [] }), page)
  expect(html).not.toContain(key)
  expect(html).not.toContain('hunter2secret')
  expect(html).toContain('[redacted]')
})

test('no text of a transcript can end the script that holds it, and only the page’s own script and style may run', async () => {
  const attack = '</script><script>alert(1)</script><!-- '
  const html = exportPage(
    await exportData(viewOf(session().user(attack).assistant(attack).text), { comment: attack, agents: [] }),
    page,
  )
  expect(html.match(/<script/g)).toHaveLength(2)
  expect(html.match(/<\/script>/g)).toHaveLength(2)
  expect(html).not.toContain('<!-- ')
  expect(html).toMatch(
    /content="default-src 'none'; script-src 'sha256-[\w+/=]{44}'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'"/,
  )
  const [, json = ''] = /id="data">(.*)<\/script>/.exec(html) ?? []
  expect(JSON.parse(json).comment).toBe(attack)
})

test('without content it has the numbers, and nothing that was said', async () => {
  const view = viewOf(lossySession())
  const data = await exportData(view, { comment: 'Only numbers.', agents: [], isContentHidden: true })
  const text = JSON.stringify(data)
  for (const said of [
    'orders_2019',
    'reports',
    'ClickHouse',
    'make import',
    'forgotten.ts',
    '/home/dev',
    'staging',
    'session.jsonl',
  ])
    expect([said, text.includes(said)]).toEqual([said, false])
  expect(data.comment).toBe('Only numbers.')
  expect(data.window).toEqual(view.window())
  expect(data.session.gauge).toEqual(view.data().gauge)
  expect(data.session.compactions).toEqual(view.data().compactions)
  expect(data.session.row.facts).toEqual({ ...view.data().row.facts, title: '', project: '' })
  expect(data.lost.facts.map(({ type, line, text }) => [type, line, text])).toEqual(
    view.lost().facts.map(({ type, line }) => [type, line, '']),
  )
  expect(data.items.map(({ tokens, type }) => [tokens, type])).toEqual(
    view.conversation.page(0, 100).map(({ tokens, type }) => [tokens, type]),
  )
})
