// The program as the agent starts it: how it ends when something is wrong.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize, session } from 'everlong/internal/testing'
import { expect, test } from 'vitest'

function run(words: readonly string[], input: string, env = process.env) {
  const main = join(import.meta.dirname, 'main.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', main, ...words], {
    input,
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('a transcript that is missing is named, without the words of the system', () => {
  const event = { hook_event_name: 'SessionStart', session_id: 'abc', transcript_path: '/nowhere/abc.jsonl' }
  const { status, stderr } = run(['hook', import.meta.dirname], JSON.stringify(event))
  const why = 'There is no transcript at /nowhere/abc.jsonl, so nothing can be compared with it.'
  expect([status, stderr]).toEqual([1, `everlong: ${why}\n`])
})

test('a command knows the notes of its session where it is told about them', () => {
  const home = mkdtempSync(join(tmpdir(), 'everlong-main-'))
  try {
    const projects = join(home, 'projects', process.cwd().replaceAll(/[^a-zA-Z0-9]/g, '-'))
    mkdirSync(projects, { recursive: true })
    const talk = session()
    for (let turn = 0; turn < 10; turn++) talk.user('Read the reports.').assistant('It says total. '.repeat(200))
    writeFileSync(join(projects, 's1.jsonl'), talk.records.map((record) => serialize(record)).join(''))
    const notes = join(home, 'notes')
    mkdirSync(join(notes, 'given'), { recursive: true })
    writeFileSync(join(notes, 'given', 's1.json'), '"- the rule"')
    const env = { ...process.env, CLAUDE_CONFIG_DIR: home }
    expect(run(['lost', 's1', notes], '', env).stdout).toContain('after the last compaction:\n\n- the rule\n')
    expect(run(['lost', 's1'], '', env).stdout).not.toContain('the rule')
    expect(run(['compact', 's1'], '', env).stdout).toContain('(Hooks are turned off, so this has no effect.)')
    expect(existsSync(join(notes, 'at-end'))).toBe(false)
    expect(run(['compact', 's1', notes], '', env).stdout).not.toContain('Hooks are turned off')
    expect(readdirSync(join(notes, 'at-end'))).toEqual(['s1.json'])
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})

test('an event that is no JSON is reported with exit code 1, because 2 would block what the agent does', () => {
  const { status, stdout, stderr } = run(['hook'], 'no json')
  expect([status, stdout, /^everlong: .+\n$/.test(stderr)]).toEqual([1, '', true])
})
