import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateWithTruth, session } from 'everlong/internal/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../testing/harness.ts'
import { formats } from './handoff/formats.ts'
import type { HandoffReport } from './handoff/report.ts'
import { handoffTargets } from './handoff.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const { records } = generateWithTruth({ seed: 3, turns: 12, boundaries: 1, kept: 'after' })
const file = folder.write('session.jsonl', records)
const bytes = readFileSync(file, 'utf8')
const env = { HOME: join(folder.path, 'home') }

describe('everlong handoff', () => {
  test('prints a document for a person: the page, where the rest is, and nothing of the old agent’s tools', async () => {
    const { exitCode, stdout, stderr } = await everlong(['handoff', file])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout.startsWith('# Handover from a session of Claude Code\n\nThe work of another agent')).toBe(true)
    expect(stdout).toContain(`\`everlong recall ${file} WORDS\``)
    expect(stdout).not.toContain('<system-reminder>')
    expect(stdout).not.toContain('whose context ran out')
    expect(readFileSync(file, 'utf8')).toBe(bytes)
  })

  test.each(['restored', 'not restored'])('the latest request is there once, whole, with files %s', async (files) => {
    const path = join(folder.path, 'gate.ts')
    writeFileSync(path, 'export const gate = 1\n')
    const paste = Array.from({ length: 90 }, (_, at) => `12:00:${at} WARN hinge ${at} creaks`).join('\n')
    const talk = session()
    for (let at = 0; at < 30; at++)
      talk.user(`Look at hinge ${at}. ${'It creaks. '.repeat(60)}`).assistant(`Oiled ${at}.`)
    if (files === 'restored') {
      talk
        .user('Read the gate.')
        .toolUse('t1', 'Read', { file_path: path })
        .toolResult('t1', '1\texport const gate = 1')
      talk.assistant('It is 1.')
    }
    const request = `Fix these:\n${paste}`
    const long = folder.write(`long-${files.length}.jsonl`, talk.user(request).records)
    const { text } = await report<HandoffReport>('handoff', long)
    expect(text.split(paste).length).toBe(2)
    expect(text.split('\n\n').at(-2)).toBe(
      `The user’s latest request, verbatim (nothing was done about it yet):\n${request}`,
    )
  })

  test('a short conversation is handed over as it is', async () => {
    const talk = session()
      .user('Add a test.')
      .toolUse('t1', 'Bash', { command: 'npm test' })
      .toolResult('t1', '1 failed')
      .assistant('It fails.')
    const short = folder.write('short.jsonl', talk.records)
    const { text } = await report<HandoffReport>('handoff', short)
    expect(text.split('\n\n').slice(2, -1)).toEqual([
      'User: Add a test.',
      'Agent called Bash: {"command":"npm test"}',
      'Result: 1 failed',
      'Agent: It fails.',
    ])
  })

  test('every target is offered, and its session says where the work continues', async () => {
    expect([...handoffTargets].toSorted()).toEqual(['markdown', ...Object.keys(formats)].toSorted())
    for (const to of ['claude-code', 'codex', 'pi'] as const) {
      const made = await everlong(['handoff', file, '--to', to, '--folder', folder.path, '--json'], { env })
      const { out = '', text, command = [], ...rest } = JSON.parse(made.stdout) as HandoffReport
      expect(rest).toMatchObject({ to, from: 'Claude Code', folder: folder.path })
      expect(out.startsWith(env.HOME)).toBe(true)
      const lines = readFileSync(out, 'utf8').trimEnd().split('\n')
      const written = lines.map((line) => JSON.parse(line) as unknown)
      expect(JSON.stringify(written)).toContain(JSON.stringify(text))
      expect(JSON.stringify(written)).toContain(JSON.stringify(folder.path))
      expect(statSync(out).mode & 0o077).toBe(0)
      expect(command[0]).toBe(to === 'claude-code' ? 'claude' : to)
      // Everlong reads what it wrote, with the message of the user in it.
      const inspected = JSON.parse((await everlong(['inspect', out, '--json'])).stdout)
      expect(inspected).toMatchObject({ format: to, live: { userLines: 1 }, errors: 0 })
    }
  })

  test('twice gives two sessions, and an existing file is never replaced', async () => {
    const words = ['handoff', file, '--to', 'pi', '--folder', folder.path, '--json']
    const first = JSON.parse((await everlong(words, { env })).stdout) as HandoffReport
    const second = JSON.parse((await everlong(words, { env })).stdout) as HandoffReport
    expect(first.out).not.toBe(second.out)
    const taken = join(folder.path, 'taken.md')
    writeFileSync(taken, 'mine')
    const refused = await everlong(['handoff', file, '--out', taken])
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('exists')
    expect(readFileSync(taken, 'utf8')).toBe('mine')
  })

  test('a folder that is not there, and opencode without a file, are refused before anything is written', async () => {
    const nowhere = await everlong(['handoff', file, '--to', 'codex', '--folder', join(folder.path, 'nowhere')], {
      env: { HOME: join(folder.path, 'other') },
    })
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([
      1,
      expect.stringContaining('Name the folder of the work with --folder'),
    ])
    expect(existsSync(join(folder.path, 'other'))).toBe(false)
    const opencode = await everlong(['handoff', file, '--to', 'opencode', '--folder', folder.path])
    expect([opencode.exitCode, opencode.stderr]).toEqual([1, expect.stringContaining('--out FILE.json')])
    const wrong = await everlong(['handoff', file, '--to', 'emacs'])
    expect(wrong.exitCode).toBe(2)
  })
})
