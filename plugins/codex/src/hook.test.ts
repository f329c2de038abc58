import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from 'everlong/internal'
import { afterAll, expect, test } from 'vitest'
import { cutToBytes } from '../../shared/lost.ts'
import { inBackground } from './background.ts'
import { lostIn, onHook } from './hook.ts'
import { createProjectFilter, projectOf, sessionsFolder } from './rollouts.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-codex-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const rule = 'From now on never touch the file schema.sql.'
const wish = 'Rename the column total to amount in every report.'

const line = (type: string, payload: JsonObject) => ({ timestamp: '2026-11-16T04:36:31.000Z', type, payload })
const message = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})
const said = (role: string, text: string) => line('response_item', message(role, text))
const ran = (call_id: string, cmd: string, output: string) => [
  line('response_item', { type: 'function_call', call_id, name: 'exec_command', arguments: JSON.stringify({ cmd }) }),
  line('response_item', { type: 'function_call_output', call_id, output }),
]
const compacted = (summary: string, kept: readonly string[]) => {
  const intro = 'Another language model started to solve this problem and produced a summary:\n'
  const history = [...kept, `${intro}${summary}`].map((text) => message('user', text))
  return line('compacted', { message: `${intro}${summary}`, replacement_history: history })
}

const text = (records: readonly JsonObject[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')

function rollout(name: string, records: readonly JsonObject[]): string {
  const path = join(folder, name)
  writeFileSync(path, text(records))
  return path
}

const start = [
  line('session_meta', { id: '0001', cwd: '/home/me/app', source: 'cli' }),
  said('user', `Read the reports first. ${rule}`),
  said('assistant', 'I have read the three reports. The totals are in cents.'),
  said('user', wish),
  ...ran('c1', 'npm test', 'Process exited with code 1\nOutput:\nexpected 3, got 2\n'),
  said('assistant', 'One test fails: the report still reads total.'),
]

const hook = (path: string, more: object = {}) =>
  onHook(
    { session_id: 's1', transcript_path: path, hook_event_name: 'SessionStart', source: 'compact', ...more },
    folder,
  )

test('the agent is told what neither the summary nor the kept messages say', async () => {
  const path = rollout('once.jsonl', [...start, compacted('The reports were read.', [wish])])
  const { systemMessage, hookSpecificOutput } = JSON.parse((await hook(path)) ?? '')
  const { hookEventName, additionalContext } = hookSpecificOutput
  expect(hookEventName).toBe('SessionStart')
  const items = additionalContext.match(/^- /gm).length
  expect(systemMessage).toBe(`Everlong gave back ${items} facts: everlong lost`)
  expect(additionalContext).toContain(rule)
  expect(additionalContext).toContain('`npm test` failed')
  expect(additionalContext).not.toContain(`- "${wish}"`)
})

test('a rule from before an earlier compaction is still known, and what was kept is not called unanswered', async () => {
  const path = rollout('twice.jsonl', [
    ...start,
    compacted('The reports were read.', [wish]),
    said('user', 'Now mend the failing test.'),
    said('assistant', 'Mended.'),
    compacted('A test was mended.', [wish, 'Now mend the failing test.']),
  ])
  expect(await lostIn(path)).toContain(rule)
  expect(await lostIn(path)).not.toContain('without a reply')
})

test('of a summary that only the model can read nothing is claimed', async () => {
  const sealed = { type: 'compaction', encrypted_content: 'gAAA' }
  const records = [...start, line('compacted', { message: '', replacement_history: [message('user', wish), sealed] })]
  const answer = (await hook(rollout('sealed.jsonl', records))) ?? ''
  expect(answer).toContain('It may repeat what the summary says')
  expect(answer).not.toContain('The summary leaves out')
  expect(answer).toContain(rule)
})

test('a summary that says everything needs nothing more', async () => {
  const path = rollout('whole.jsonl', [
    said('user', 'Say hello.'),
    said('assistant', 'Hello.'),
    compacted('The user asked: "Say hello." The agent said hello.', ['Say hello.']),
  ])
  expect(await hook(path)).toBeUndefined()
})

test.each([
  ['no object', 'text'],
  ['another event', { hook_event_name: 'Stop', source: 'compact' }],
  ['a session that only starts', { hook_event_name: 'SessionStart', source: 'startup' }],
  ['a session without a rollout', { hook_event_name: 'SessionStart', source: 'compact', transcript_path: null }],
])('%s prints nothing', async (_, input) => {
  expect(await onHook(input, folder)).toBeUndefined()
})

test('a rollout without a compaction prints nothing, one that is missing is an error that names it', async () => {
  expect(await hook(rollout('fresh.jsonl', start))).toBeUndefined()
  await expect(hook(join(folder, 'gone.jsonl'))).rejects.toThrow('gone.jsonl')
})

test('a record that was cut off is left out', async () => {
  const path = rollout('cut.jsonl', [...start, compacted('The reports were read.', [wish])])
  writeFileSync(path, '{"timestamp":"2026', { flag: 'a' })
  expect(await hook(path)).toContain(rule)
})

const counted = line('event_msg', { type: 'token_count', info: null })
const ended = [counted, compacted('The reports were read.', [wish]), counted]
const prepared = () => readdirSync(join(folder, 'prepared'))
const prepare = (path: string) => inBackground({ transcript_path: path, hook_event_name: 'PreCompact' }, folder)

/** What the hook says of a rollout that nobody read before. */
const unprepared = (name: string, records: readonly JsonObject[]) => hook(rollout(name, records))

test('what was read while Codex wrote the summary is used once, and the answer is the same', async () => {
  const path = rollout('prepared.jsonl', start)
  prepare(path)
  expect(prepared()).toEqual(['prepared.jsonl.json'])
  appendFileSync(path, text(ended))
  const answer = await hook(path)
  expect(prepared()).toEqual([])
  expect(answer).toBe(await unprepared('other.jsonl', [...start, ...ended]))
  expect(answer).toContain(rule)
})

test('the conversation is not read again after that', async () => {
  const path = rollout('once-more.jsonl', start)
  prepare(path)
  const kept = join(folder, 'prepared', 'once-more.jsonl.json')
  writeFileSync(kept, readFileSync(kept, 'utf8').replaceAll('schema.sql', 'schema.two'))
  appendFileSync(path, text(ended))
  expect(await hook(path)).toContain('never touch the file schema.two')
})

const late = said('user', 'Always write the amounts with two digits.')

test.each<[string, (path: string) => readonly JsonObject[]]>([
  [
    'was said after it',
    (path) => {
      appendFileSync(path, text([late, ...ended]))
      return [...start, late, ...ended]
    },
  ],
  [
    'stands in another file of that name',
    (path) => {
      const other = [said('user', 'Never drop a table.'), ...start, ...ended]
      writeFileSync(path, text(other))
      return other
    },
  ],
  [
    'stands in a shorter file',
    (path) => {
      const shorter = [...start.slice(0, 3), ...ended.slice(1, 2)]
      writeFileSync(path, text(shorter))
      return shorter
    },
  ],
  [
    'was kept is damaged',
    (path) => {
      writeFileSync(join(folder, 'prepared', 'changed.jsonl.json'), '{"version"')
      appendFileSync(path, text(ended))
      return [...start, ...ended]
    },
  ],
])('the rollout is read again if what %s', async (_, change) => {
  const path = rollout('changed.jsonl', start)
  prepare(path)
  const records = change(path)
  const answer = await hook(path)
  expect(answer).toBe(await unprepared('unchanged.jsonl', records))
  expect(answer).toBeDefined()
})

test('a compaction far from the end of the file is found', async () => {
  const large = line('event_msg', { type: 'exec_output', text: 'x'.repeat(1 << 20) })
  const path = rollout('far.jsonl', [...start, ...ended, large, large])
  expect(await hook(path)).toContain(rule)
})

test('a long text is cut to what Codex takes, never inside a character', () => {
  const cut = cutToBytes('é🎈'.repeat(3_000), 9_500)
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(9_500)
  expect(cut).toMatch(/^(é🎈)*é?\n\[…\]$/)
  expect(cutToBytes('short', 9_500)).toBe('short')
})

test('the sessions of a project are those that ran in it or below it', () => {
  const project = join(folder, 'app')
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(join(project, 'src'))
  expect(projectOf(join(project, 'src'))).toBe(project)
  const isOurs = createProjectFilter(project)
  const at = (name: string, cwd: string) => rollout(name, [line('session_meta', { id: name, cwd })])
  expect(
    [at('a', project), at('b', join(project, 'src')), at('c', folder), at('d', `${project}-2`)].map(isOurs),
  ).toEqual([true, true, false, false])
  expect(isOurs(rollout('e', [said('user', 'No folder.')]))).toBe(false)
  expect(sessionsFolder({ HOME: '/home/me' })).toBe(join('/home/me', '.codex', 'sessions'))
  expect(sessionsFolder({ CODEX_HOME: '/c' })).toBe(join('/c', 'sessions'))
})
