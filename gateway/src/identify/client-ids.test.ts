import { expect, test } from 'vitest'
import { clientIdsOf, plainId } from './client-ids.ts'

const tools = [{ name: 'read' }]
const uuid = '0b7f4c3e-8a52-4c41-9d3e-1f2a3b4c5d6e'

test.each([
  ['ours before all others', { 'x-everlong-session': 'mine', 'x-claude-code-session-id': uuid }, {}, 'mine'],
  ['Claude Code by its header', { 'x-claude-code-session-id': uuid }, {}, uuid],
  [
    'Claude Code by its metadata',
    {},
    { metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: uuid }) } },
    uuid,
  ],
  ['an older Claude Code', {}, { metadata: { user_id: `user_abc_account__session_${uuid}` } }, uuid],
  [
    'a header before the metadata',
    { 'x-session-id': 'head' },
    { metadata: { user_id: JSON.stringify({ session_id: uuid }) } },
    'head',
  ],
  ['Codex by its thread, not by its session', { 'session-id': 's', 'thread-id': 't' }, { prompt_cache_key: 'k' }, 't'],
  ['opencode', { 'x-session-affinity': 'ses_1' }, { prompt_cache_key: 'other' }, 'ses_1'],
  ['the key of the cache', {}, { prompt_cache_key: 'ses_2' }, 'ses_2'],
  ['nobody', {}, { metadata: { user_id: 'ann' } }, undefined],
  ['nobody by an empty header', { 'x-session-id': ' ' }, {}, undefined],
  ['nobody by a broken metadata', {}, { metadata: { user_id: '{' } }, undefined],
])('%s', (_, headers, body, session) => {
  expect(clientIdsOf(headers, { ...body, tools }).session).toBe(session)
})

test('a sub-agent is told apart, and so is what an agent asks aside', () => {
  const main = { 'x-claude-code-session-id': uuid }
  expect(clientIdsOf({ ...main, 'x-claude-code-agent-id': 'a1' }, { tools })).toEqual({
    session: uuid,
    agent: 'a1',
    asksAside: false,
  })
  expect(clientIdsOf(main, {})).toEqual({ session: uuid, agent: undefined, asksAside: true })
  expect(clientIdsOf(main, { tools })).toMatchObject({ asksAside: false })
  expect(clientIdsOf({ 'x-session-id': 'chat' }, {})).toMatchObject({ asksAside: false })
})

test.each(['../../etc/passwd', 'a/b', '.hidden', 'x.jsonl', 'ä', 'a'.repeat(200), 'a b', '-x'])(
  '%s names no file',
  (given) => {
    expect(plainId(given)).toMatch(/^id-[0-9a-f]{32}$/)
    expect(plainId(given)).not.toBe(plainId(`${given}x`))
  },
)
