import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { generateCodexRollout, type SessionBuilder, serialize, session, toolUseBlock } from 'everlong/internal/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { everlong, type RunOptions } from '../testing/harness.ts'
import { recordPath, recordText } from './install/record.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'everlong-lost-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const lost = (words: readonly string[], options: RunOptions = {}) =>
  everlong(['lost', ...words], { ...options, env: { HOME: home, NO_COLOR: '1', ...options.env } })
const json = async (...words: readonly string[]) => JSON.parse((await lost([...words, '--json'])).stdout)

/** Newer ones have a larger age number. */
function write(path: string, text: string, time = 1_000): string {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  utimesSync(file, time, time)
  return file
}

const rule = 'Never drop the table orders_2019.'
const talk = (...rules: readonly string[]) => {
  const made = session()
    .user((rules.length === 0 ? [rule] : rules).join('\n'))
    .assistant('Understood.')
  return made.user('List the files.').assistant('There are three.')
}
const compacted = (made: SessionBuilder) =>
  made.boundary().summary('1. The files were listed: three.').user('Go on.').assistant('I go on.').text

/** Something of every kind. */
function rich(): string {
  const question = 'Which database should the reports use?'
  const made = session()
    .user('Migrate the reports. Never drop the table orders_2019. Ask me before you push anything.')
    .toolUse('t1', 'AskUserQuestion', { questions: [{ question }] })
    .toolResult('t1', `"${question}"="ClickHouse"`, { toolUseResult: { answers: { [question]: 'ClickHouse' } } })
    .toolUse('t2', 'Bash', { command: 'make import' })
    .toolResult('t2', 'Exit code 2\nError: checkpoint refused', { isError: true })
    .assistant('Identifiers need exactly twelve lowercase hexadecimal characters.')
    .toolUse('t3', 'Bash', { command: 'make import' })
    .toolResult('t3', 'imported 12 rows')
    .toolUse('t4', 'Edit', { file_path: '/home/dev/project/src/forgotten.ts', old_string: 'a', new_string: 'b' })
    .toolResult('t4', 'The file has been updated.')
    .assistant([toolUseBlock('t5', 'Bash', { command: 'pytest checks/deep' })])
    .toolResult('t5', 'FAILED checks/deep/test_a.py', { isError: true })
    .assistant('One check fails.')
    .user('Translate every label into Danish.')
    .assistant('I begin with the menu.')
  return made.boundary().summary('1. Rows were imported.').user('Go on.').assistant('I go on.').text
}

test('the screen has everything that was lost, the most harmful first, and fits a small terminal', async () => {
  const path = write('rich.jsonl', rich())
  const { exitCode, stdout, stderr } = await lost([path])
  expect([exitCode, stderr]).toEqual([0, ''])
  const screen = stdout.replaceAll(path, 'session.jsonl')
  await expect(screen).toMatchFileSnapshot('../screens/lost.txt')
  expect(stdout.split('\n').length).toBeLessThanOrEqual(24)
})

test('as JSON, with the place of each', async () => {
  const path = write('one.jsonl', compacted(talk()))
  expect(await json(path)).toEqual({
    paths: [path],
    found: 1,
    read: 1,
    counts: { rule: 1, decision: 0, request: 0, failure: 0, command: 0, file: 0 },
    sessions: [
      {
        path,
        format: 'claude-code',
        sessionId: '00000000-0000-4000-8000-000000000000',
        compactions: [
          {
            ...{ number: 1, uuid: 'b1', line: 5, trigger: 'auto', time: '2026-03-02T09:00:05.000Z' },
            ...{ isUndone: false, isReadable: true },
          },
        ],
        facts: [
          {
            ...{ type: 'rule', text: rule, about: null, cause: null, by: null },
            ...{ uuid: 'u1', line: 1, time: '2026-03-02T09:00:01.000Z', compaction: 1 },
          },
        ],
        unverified: [],
        unknown: null,
      },
    ],
    unreadable: [],
    installable: ['claude-code'],
    program: './everlong',
  })
})

test('claims of the last summary that the session does not show are listed', async () => {
  const made = talk().boundary().summary(`${rule} The user approved the deployment to production.`).user('Go on.')
  const { stdout } = await lost([write('one.jsonl', made.text)])
  expect(stdout).toContain('The last summary claims what the session does not show:')
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    '"The user approved the deployment to production." (no such approval on record)',
  )
})

test('the commands it offers bring the words back', async () => {
  // A context of a few words cannot be made smaller.
  const made = talk().boundary().summary('1. The files were listed: three.')
  for (let at = 0; at < 3; at++) made.user('Sort them.').assistant('I sorted them all by name. '.repeat(20))
  const path = write('one.jsonl', made.text)
  const { stdout } = await lost([path])
  const offered = [...stdout.matchAll(/^ {2}\.\/everlong (.*?)(?: {2}|$)/gm)].map(([, words = '']) => words.split(' '))
  expect(offered.map(([name]) => name)).toEqual(['recall', 'compact', 'install'])
  const env = { HOME: home, EVERLONG_CACHE_DIR: join(home, 'cache') }
  expect((await everlong(offered[0] ?? [], { env })).stdout).toContain(rule)
  expect((await everlong(offered[1] ?? [], { env })).exitCode).toBe(0)
  expect((await lost([path])).stdout).toContain('Nothing was lost that code can find')
})

test.each([
  ['was never compacted', talk().text, 'Nothing was lost: this session was never compacted.'],
  [
    'says it in other words',
    talk().boundary().summary('1. Files were listed: three. The table orders_2019 must not be dropped.').text,
    'Nothing was lost that code can find, in 1 compaction.',
  ],
  [
    'has no readable summary',
    talk()
      .boundary()
      .user([{ type: 'compaction', encrypted_content: 'x' }], { fields: { isCompactSummary: true } }).text,
    'What was lost cannot be known.',
  ],
])('a session that %s', async (_, text, first) => {
  const { exitCode, stdout } = await lost([write('one.jsonl', text)])
  expect([exitCode, stdout.split('\n')[0]]).toEqual([0, first])
})

test('a compaction that was undone lost nothing', async () => {
  const path = write('one.jsonl', compacted(talk()))
  expect((await everlong(['undo', path])).exitCode).toBe(0)
  expect((await lost([path])).stdout).toBe('Nothing is lost: every compaction was undone.\n')
})

describe('without a path', () => {
  test('the sessions of all agents on this machine are read, newest first', async () => {
    write('.claude/projects/p/old.jsonl', compacted(talk('Always ask before pushing.')), 1_000)
    write('.claude/projects/p/new.jsonl', compacted(talk()), 2_000)
    write('.claude/projects/p/agent-1.jsonl', compacted(talk()), 3_000)
    const { records } = generateCodexRollout({ seed: 1, turns: 4, compactions: 1 })
    write('.codex/sessions/2026/rollout-1.jsonl', records.map(serialize).join(''), 500)
    const { found, sessions } = await json()
    expect(found).toBe(3)
    expect(sessions.map(({ path }: { path: string }) => path.slice(home.length + 1))).toEqual([
      '.claude/projects/p/new.jsonl',
      '.claude/projects/p/old.jsonl',
      '.codex/sessions/2026/rollout-1.jsonl',
    ])
    const { stdout } = await lost([])
    expect(stdout).toMatch(/^2 of 3 sessions lost 2 things that may still matter: 2 instructions\.\n/)
    expect(stdout.indexOf('new.jsonl:1')).toBeGreaterThan(0)
    expect(stdout.indexOf('new.jsonl:1')).toBeLessThan(stdout.indexOf('old.jsonl:1'))
  })

  test('an empty machine gets one line that says what to do', async () => {
    const { exitCode, stdout, stderr } = await lost([])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      /^everlong: found no sessions of Claude Code, .* or opencode on this machine\. Name a file or folder: everlong lost PATH\n$/,
    )
    mkdirSync(join(home, '.claude', 'projects'), { recursive: true })
    expect((await lost([])).stderr).toBe(stderr)
  })

  test('the settings of the agents say where their sessions are; a relative path counts for nothing', async () => {
    write('elsewhere/projects/p/a.jsonl', compacted(talk()))
    const env = { CLAUDE_CONFIG_DIR: join(home, 'elsewhere') }
    expect((await lost([], { env })).stdout).toContain('This session lost 1 thing')
    expect((await lost([], { env: { CLAUDE_CONFIG_DIR: 'elsewhere' } })).exitCode).toBe(1)
  })
})

test('an instruction of an older session comes before what a newer one lost otherwise', async () => {
  write('f/old.jsonl', compacted(talk()), 1_000)
  const asked = session().user('List the files.').toolUse('t1', 'AskUserQuestion')
  asked.toolResult('t1', 'Answered.', { toolUseResult: { answers: { 'Which database?': 'ClickHouse' } } })
  write('f/new.jsonl', compacted(asked.assistant('Three.')), 2_000)
  const { stdout } = await lost([join(home, 'f')])
  expect([...stdout.matchAll(/^ {2}(instruction|decision) .*$/gm)].map(([, kind]) => kind)).toEqual([
    'instruction',
    'decision',
  ])
})

test('of many sessions the newest are read, and that is reported; a named file is always read', async () => {
  for (let at = 0; at < 30; at++) write(`many/${at}.jsonl`, compacted(talk()), 1_000 + at)
  const folder = join(home, 'many')
  const { found, read, sessions } = await json(folder, '--limit', '5')
  expect([found, read, sessions[0].path]).toEqual([30, 5, join(folder, '29.jsonl')])
  const { stdout } = await lost([folder, '--limit', '5'])
  expect(stdout.replace(/\s+/g, ' ')).toContain('Read: the newest 5 of 30 sessions. --limit 0 reads all.')
  expect((await json(folder, join(folder, '0.jsonl'), '--limit', '1')).read).toBe(2)
  expect((await json(folder, '--limit', '0')).read).toBe(30)
})

test('progress is shown on a terminal that has to wait, and removed', async () => {
  for (let at = 0; at < 3; at++) write(`many/${at}.jsonl`, compacted(talk()))
  let time = 0
  const { stderr } = await lost([join(home, 'many')], { isTTY: true, now: () => (time += 1_000) })
  expect(stderr).toContain('of 3 sessions')
  expect(stderr.endsWith('\u001b[2K')).toBe(true)
})

test('one screen by default, everything with --all', async () => {
  const rules = Array.from(
    { length: 12 },
    (_, at) => `Never touch the folder number ${at} of the ${'very '.repeat(at)}old archive.`,
  )
  const path = write('one.jsonl', compacted(talk(...rules)))
  const short = (await lost([path])).stdout
  expect(short.split('\n').length).toBeLessThanOrEqual(24)
  const hidden = Number(/… and (\d+) more: add --all/.exec(short)?.[1])
  const shown = short.split('\n').filter((line) => line.startsWith('  instruction')).length
  expect([hidden > 0, hidden + shown]).toEqual([true, 12])
  const all = (await lost([path, '--all'])).stdout.replace(/\s+/g, ' ')
  expect(rules.filter((words) => !all.includes(words))).toEqual([])
})

test('nothing of a file takes over the terminal or becomes a word of a command', async () => {
  const evil = '\u001b]0;owned\u0007\u001b[2J\u202e'
  const uuid = `x'; touch owned;${evil}`
  const made = session()
    .user(`Never${evil} drop it.`, { uuid })
    .assistant('Yes.')
    .toolUse('t1', 'Edit', { file_path: `/p/a${evil}.ts`, old_string: 'a', new_string: 'b' })
    .toolResult('t1', 'Updated.')
    .toolUse('t2', 'Bash', { command: `rm ${evil}` })
    .toolResult('t2', "The user doesn't want to proceed with this tool use.", { isError: true })
    .toolUse('t3', 'AskUserQuestion')
    .toolResult('t3', 'Answered.', { toolUseResult: { answers: { [`Which${evil} one?`]: 'ClickHouse' } } })
    .user('List the files.')
    .assistant('Three.')
  const path = write("it's $(here).jsonl", compacted(made))
  const { stdout } = await lost([path], { isTTY: true, columns: 200 })
  expect(stdout).toContain('1 instruction, 2 decisions, 1 changed file.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
  expect(stdout).toContain(`it'\\''s $(here).jsonl' --read 'x'\\''; touch owned;`)
})

test('what cannot be read is named, and the rest is shown', async () => {
  const path = write('f/one.jsonl', compacted(talk()))
  write('f/other.jsonl', '{"name":"x"}\n')
  mkdirSync(join(home, 'f/locked.jsonl'))
  chmodSync(join(home, 'f/locked.jsonl'), 0)
  expect(await json(join(home, 'f'))).toMatchObject({ found: 1, read: 1, sessions: [{ path }] })
  const missing = await lost([path, join(home, 'none.jsonl')])
  expect([missing.exitCode, missing.stdout.includes('Could not be read')]).toEqual([1, true])
  expect(missing.stdout).not.toContain('Read: the newest')
  expect((await lost([join(home, 'none.jsonl')])).stderr).toContain('does not exist')
  expect(await lost([join(home, 'f/other.jsonl')])).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('does not look like a transcript'),
  })
})

test('a path that is not there does not hide that only the newest sessions were read', async () => {
  for (let at = 0; at < 3; at++) write(`many/${at}.jsonl`, compacted(talk()), 1_000 + at)
  const { stdout } = await lost([join(home, 'many'), join(home, 'none.jsonl'), '--limit', '2'])
  expect(stdout.replace(/\s+/g, ' ')).toContain('Read: the newest 2 of 3 sessions. --limit 0 reads all.')
})

test('a session that disappears before it is read is named, and is not one that was left out', async () => {
  write('f/new.jsonl', compacted(talk()), 2_000)
  const old = write('f/old.jsonl', compacted(talk()), 1_000)
  const now = () => {
    rmSync(old, { force: true })
    return 0
  }
  const { exitCode, stdout } = await lost([join(home, 'f')], { isTTY: true, columns: 200, now })
  expect([exitCode, stdout.includes(`Could not be read: ${old}`)]).toEqual([1, true])
  expect(stdout).not.toContain('Read: the newest')
})

test('installing is offered until it is installed, also if the record of it is damaged', async () => {
  const path = write('one.jsonl', compacted(talk()))
  expect((await json(path)).installable).toEqual(['claude-code'])
  const record = { format: 1, target: 'claude-code', version: '1', folders: [], files: [] } as const
  for (const text of [recordText(record), '{ damaged']) {
    write(relative(home, recordPath(home, 'claude-code')), text)
    expect((await json(path)).installable).toEqual([])
  }
})

test('at least three of the lost things are shown, however long each of them is', async () => {
  const rules = Array.from(
    { length: 6 },
    (_, at) => `Never touch folder ${at} of ${'the very old archive '.repeat(30)}.`,
  )
  const { stdout } = await lost([write('long.jsonl', compacted(talk(...rules)))], { isTTY: true, columns: 40 })
  expect(stdout.split('\n').filter((line) => line.startsWith('  instruction')).length).toBeGreaterThanOrEqual(3)
})

test('the progress over many small sessions is shown on a terminal, session by session', async () => {
  const files = [1, 2, 3].map((at) => write(`work/${at}.jsonl`, compacted(talk()), at))
  const written: string[] = []
  let time = 0
  const stderr = { isTTY: true, columns: 100, write: (text: string) => written.push(text) } as never
  // A second passes whenever somebody looks at the clock.
  const now = () => (time += 1_000)
  const { gather } = await import('./lost/gather.ts')
  await gather(files, { limit: 0, io: { stdin: stderr, stdout: stderr, stderr, env: { HOME: home }, cwd: home, now } })
  const counts = written.flatMap((text) => /(\d+) %.* (\d of 3 sessions)/.exec(text)?.slice(1) ?? [])
  expect(counts.slice(-2)).toEqual(['100', '3 of 3 sessions'])
  expect(counts).toContain('1 of 3 sessions')
})
