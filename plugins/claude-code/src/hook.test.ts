import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize, session, toolUseBlock } from 'everlong/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lastLost, onHook } from './hook.ts'
import { projectFolder, sessionName } from './project.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-plugin-'))
const transcript = join(folder, 'session.jsonl')
const data = join(folder, 'data')
const rule = 'From now on never touch the file schema.sql.'
const wish = 'Rename the column total to amount, please, in every report.'

const conversation = session()
  .user(`Read the reports first. ${rule}`)
  .assistant('I have read the three reports. The totals are in cents.')
  .user(wish)
  .assistant([toolUseBlock('t1', 'Bash', { command: 'npm test' })])
  .toolResult('t1', 'FAIL reports.test.ts: expected 3, got 2', { isError: true })
  .assistant('One test fails: the report still reads total.')

beforeAll(() => writeFileSync(transcript, conversation.records.map(serialize).join('')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hook = (event: string, more: object = {}) =>
  onHook({ session_id: 's1', transcript_path: transcript, hook_event_name: event, ...more }, data)

test('before a compaction the summarizer is asked to keep what matters', () => {
  expect(hook('PreCompact', { trigger: 'auto', custom_instructions: null })).toContain('word for word')
})

test('the new context starts with the rules of the user', () => {
  expect(JSON.parse(hook('SessionStart', { source: 'compact' }) ?? '')).toEqual({
    hookSpecificOutput: {
      hookEventName: 'SessionStart',
      additionalContext: `What the user asked for once and for all in this session, word for word:\n- "${rule}"`,
    },
  })
})

test('what the summary leaves out reaches the agent once, with the next prompt or tool results', () => {
  hook('SessionStart', { source: 'compact' })
  expect(hook('PostCompact', { compact_summary: '<summary>\n1. The reports were read.\n</summary>' })).toBeUndefined()
  expect(existsSync(join(data, 'waiting'))).toBe(true)
  const { hookSpecificOutput } = JSON.parse(hook('PostToolBatch') ?? '')
  expect(hookSpecificOutput.hookEventName).toBe('PostToolBatch')
  expect(hookSpecificOutput.additionalContext).toContain(wish)
  expect(hookSpecificOutput.additionalContext).toContain('`npm test` failed')
  // The rules were given at once.
  expect(hookSpecificOutput.additionalContext).not.toContain('## Rules')
  expect(hook('UserPromptSubmit')).toBeUndefined()
  expect(existsSync(join(data, 'waiting'))).toBe(false)
})

test('what the summary quotes is not said again', () => {
  const summary = `<summary>\n- "Read the reports first. ${rule}"\n- "${wish}"\n- \`npm test\` failed: reports.test.ts: expected 3, got 2\n</summary>`
  hook('PostCompact', { compact_summary: summary })
  expect(hook('UserPromptSubmit')).not.toContain('What the user said')
})

test('a note of one session is not given to another', () => {
  hook('PostCompact', { compact_summary: '<summary>Nothing.</summary>' })
  expect(onHook({ session_id: 's2', transcript_path: transcript, hook_event_name: 'UserPromptSubmit' }, data)).toBe(
    undefined,
  )
  expect(hook('UserPromptSubmit')).toContain(wish)
})

test('a recorded compaction is compared with what came before it', () => {
  const path = join(folder, 'compacted.jsonl')
  const { records } = conversation.boundary({ uuid: 'b1' }).summary('<summary>\n1. The reports were read.\n</summary>')
  writeFileSync(path, records.map(serialize).join(''))
  expect(lastLost(path, 'b1')).toContain(wish)
})

test.each([
  ['no object', 'text'],
  [
    'a session that names a path',
    { session_id: '../../x', transcript_path: transcript, hook_event_name: 'PreCompact' },
  ],
  ['an unknown event', { session_id: 's1', transcript_path: transcript, hook_event_name: 'Other' }],
])('%s prints nothing', (_, input) => {
  expect(onHook(input, data)).toBeUndefined()
})

test('a missing transcript is an error that names it', () => {
  const gone = join(folder, 'gone.jsonl')
  expect(() => onHook({ session_id: 's1', transcript_path: gone, hook_event_name: 'SessionStart' }, data)).toThrow(gone)
})

test('the transcripts of a project are where Claude Code keeps them', () => {
  expect(projectFolder('/home/me/my.app', { HOME: '/home/me' })).toBe('/home/me/.claude/projects/-home-me-my-app')
  expect(projectFolder('/a', { CLAUDE_CONFIG_DIR: '/c' })).toBe('/c/projects/-a')
  expect(sessionName('a/b')).toBeUndefined()
})
