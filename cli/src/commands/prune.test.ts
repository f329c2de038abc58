import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { acquireLease } from 'everlong/internal/node'
import { session } from 'everlong/internal/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { everlong, sessionFolder } from '../testing/harness.ts'
import { gather, type PruneReport } from './prune/report.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const now = Date.UTC(2026, 10, 18)
const day = 86_400_000
let folders = 0

/** Ids of sessions, and how many days ago each was changed. */
function sessions(ages: Readonly<Record<string, number>>): string {
  const place = join(folder.path, `sessions-${folders++}`)
  for (const [id, days] of Object.entries(ages)) {
    const path = join(place, `${id}.jsonl`)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, session().user('Hello.').assistant('Hi.').text)
    age(path, days)
  }
  return place
}

function age(path: string, days: number): void {
  const at = new Date(now - days * day)
  utimesSync(path, at, at)
}

const prune = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await everlong(['prune', ...words, '--json'], { now: () => now })
  return { exitCode, stderr, report: (stdout === '' ? undefined : JSON.parse(stdout)) as PruneReport | undefined }
}
const idsIn = (report: PruneReport | undefined) => report?.sessions.map(({ id }) => id)
const filesIn = (place: string) => readdirSync(place, { recursive: true }).map(String).toSorted()

describe('without a terminal to ask on', () => {
  test('it says what it would remove, the oldest first, and removes nothing', async () => {
    const place = sessions({ recent: 1, old: 40, older: 400 })
    const before = filesIn(place)
    const { exitCode, stderr, report } = await prune(place, '--days', '30')
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: 'everlong: nothing was removed: there is no terminal to ask on. Add --yes to remove them.\n',
    })
    expect(report).toEqual({
      path: place,
      days: 30,
      all: 3,
      sessions: [
        { id: 'older', changed: new Date(now - 400 * day).toISOString() },
        { id: 'old', changed: new Date(now - 40 * day).toISOString() },
      ],
      state: 'not-asked',
      removed: 0,
    })
    expect(filesIn(place)).toEqual(before)
  })

  test('--yes removes them with what is kept next to them, and a second run finds nothing', async () => {
    const place = sessions({ recent: 1, old: 40, 'old/subagents/agent-1': 50 })
    mkdirSync(join(place, 'old', 'tool-results'))
    writeFileSync(join(place, 'old', 'tool-results', 't1.txt'), 'x')
    expect((await prune(place, '--days', '30', '--yes')).report).toMatchObject({ state: 'removed', removed: 2 })
    expect(filesIn(place)).toEqual(['recent.jsonl'])
    const again = await prune(place, '--days', '30', '--yes')
    expect(again).toMatchObject({ exitCode: 0, report: { state: 'nothing-to-do', all: 1, sessions: [], removed: 0 } })
  })

  test('exactly as old as the limit is not older', async () => {
    const place = sessions({ exactly: 30 })
    expect(idsIn((await prune(place, '--days', '30')).report)).toEqual([])
    age(join(place, 'exactly.jsonl'), 30 + 1 / day)
    expect(idsIn((await prune(place, '--days', '30')).report)).toEqual(['exactly'])
  })

  test('90 days is the default, and one session may be named', async () => {
    const place = sessions({ 'a-89': 89, 'b-91': 91, 'c-91': 91 })
    expect(idsIn((await prune(place)).report)).toEqual(['b-91', 'c-91'])
    const one = await prune(join(place, 'c-91.jsonl'), '--yes')
    expect(one.report).toMatchObject({ all: 1, removed: 1 })
    expect(filesIn(place)).toEqual(['a-89.jsonl', 'b-91.jsonl'])
  })
})

describe('stays', () => {
  test('a session that somebody writes', async () => {
    const place = sessions({ held: 400, free: 400 })
    const lease = acquireLease(join(place, 'held.jsonl'), { owner: 'a test' })
    expect(idsIn((await prune(place, '--yes')).report)).toEqual(['free'])
    if (lease.type === 'acquired') lease.lease.release()
  })

  test('a session whose sub-agent was used since, with everything above it', async () => {
    const place = sessions({ top: 400, 'top/subagents/a': 400, 'top/subagents/a/subagents/b': 1, other: 400 })
    expect((await prune(place, '--yes')).report).toMatchObject({ removed: 1, sessions: [{ id: 'other' }] })
    expect(existsSync(join(place, 'top.jsonl'))).toBe(true)
  })
})

describe('on a terminal', () => {
  const ask = async (place: string, answer: string, meanwhile: () => void = () => undefined) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true })
    const stdout = Object.assign(new PassThrough().setEncoding('utf8'), { isTTY: true, columns: 80 })
    const io = { stdin, stdout, stderr: stdout, env: {}, cwd: place, now: () => now, timeZone: 'UTC' }
    const asked = gather(place, { days: 30, io })
    let shown = ''
    stdout.on('data', (text: string) => {
      shown += text
    })
    await expect.poll(() => shown).toContain('[y/N]')
    meanwhile()
    stdin.write(`${answer}\n`)
    return { shown, outcome: await asked }
  }

  test('it shows them and asks; only yes removes', async () => {
    const place = sessions({ recent: 1, old: 40 })
    for (const answer of ['n', '', 'yeah', 'no']) {
      const { shown, outcome } = await ask(place, answer)
      expect(shown).toContain('1 session of ')
      expect(shown).toMatch(/2026-10-09.*old[\s\S]*Remove 1 session\? \[y\/N\]/)
      expect(outcome).toMatchObject({ exitCode: 0, report: { state: 'refused', removed: 0 } })
    }
    expect(filesIn(place)).toEqual(['old.jsonl', 'recent.jsonl'])
    expect((await ask(place, 'Y')).outcome).toMatchObject({ report: { state: 'removed', removed: 1 } })
    expect(filesIn(place)).toEqual(['recent.jsonl'])
  })

  test('a session that is used while the question is open stays', async () => {
    const place = sessions({ one: 40, two: 40 })
    const { outcome } = await ask(place, 'y', () => age(join(place, 'one.jsonl'), 0))
    expect(outcome).toMatchObject({
      report: { state: 'removed', removed: 1, sessions: [{ id: 'one' }, { id: 'two' }] },
    })
    expect(filesIn(place)).toEqual(['one.jsonl'])
  })
})
