// kill −9 in the middle of a compaction: at every change that it makes to the disk, by doing again what a real process
// did as far as the kill let it, and at moments that nobody chose, by killing real processes.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { combine, text, thinking } from '@everlong/simulator'
import { fsck } from 'everlong/internal/node'
import { afterAll, expect, test } from 'vitest'
import type { CrashOrder, CrashReport } from '../testing/crash-worker.ts'
import { type FileChange, makeChange } from '../testing/file-changes.ts'
import { fill } from '../testing/history.ts'
import { type Stage, setStage } from '../testing/stage.ts'

const home = mkdtempSync(join(tmpdir(), 'everlong-crash-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
let folders = 0

type Case = { readonly name: string; readonly model: string; readonly keepsLast?: boolean; readonly hasNotes?: boolean }

const cases: readonly Case[] = [
  { name: 'of everything', model: 'claude-opus-4-5' },
  { name: 'from notes', model: 'claude-opus-4-5', hasNotes: true },
  { name: 'up to a message, for a model that binds its thinking', model: 'claude-fable-5-1', keepsLast: true },
]

const window = 400_000

/** The same API for all, since what it signed it must know again. */
function stageOf(model: string) {
  const script = () => combine(thinking('Which file?'), text('Here you are.'))
  // Clearing leaves too little for a compaction.
  return setStage({ model, window, script, engine: { settings: { reductions: { microCompact: false } } } })
}

type Ready = { readonly stage: Stage; readonly folder: string; readonly late: string }

/** A session before its compaction, in a folder of its own. */
async function readyFor({ model, hasNotes }: Case): Promise<Ready> {
  const folder = join(home, String(++folders))
  const stage = await stageOf(model)
  const session = await stage.engine.start({ path: join(folder, 'session.jsonl'), maxTokens: 1_000 })
  const asked: string[] = []
  for (let round = 0; round < 6; round++) {
    fill(session, { rounds: 2, tokens: 1_500, from: round * 2 })
    asked.push(...session.add({ role: 'user', content: `Then look at part ${round}. Never guess.` }))
    await session.send()
  }
  await session.close()
  const line = 'Questions are asked of every file; none may be changed. Look at every part, and never guess.\n'
  const notes = `# Current state\n_what_\n${line.repeat(100)}`
  const memory = join(folder, 'session', 'session-memory')
  rmSync(join(folder, 'session'), { recursive: true, force: true })
  mkdirSync(memory, { recursive: true })
  if (hasNotes) writeFileSync(join(memory, 'summary.md'), notes)
  return { stage, folder, late: String(asked.at(-1)) }
}

type Order = Pick<CrashOrder, 'model' | 'upTo'>

function copied(folder: string): string {
  const copy = join(home, String(++folders))
  cpSync(folder, copy, { recursive: true })
  return join(copy, 'session.jsonl')
}

function start(path: string, { model, upTo }: Order, { isSlow }: { readonly isSlow: boolean }) {
  const order: CrashOrder = { path, model, isSlow, ...(upTo === undefined ? {} : { upTo }) }
  const script = join(import.meta.dirname, '../testing/crash-worker.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  return { child, ended, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
}

async function compacted(path: string, found: Order): Promise<CrashReport> {
  const { ended, lines } = start(path, found, { isSlow: false })
  await lines.next()
  const report = JSON.parse(String((await lines.next()).value)) as CrashReport
  await ended
  return report
}

/** Numbers of bytes of a write that a kill may let through: for the transcript's, before, in and after each record. */
function cutsOf(change: FileChange, { isThorough }: { readonly isThorough: boolean }): readonly number[] {
  if (change.type !== 'written') return [0]
  const bytes = Buffer.from(change.bytes, 'base64')
  if (!change.path.endsWith('session.jsonl')) return [0, bytes.length >> 1]
  const cuts = new Set([0])
  for (let start = 0, end = bytes.indexOf(10); end >= 0; start = end + 1, end = bytes.indexOf(10, start)) {
    for (const cut of isThorough ? [start + 1, (start + end) >> 1, end - 1, end, end + 1] : [end, end + 1])
      cuts.add(cut)
  }
  return [...cuts].filter((cut) => cut <= bytes.length)
}

/** Opens what a kill left, as the next process would: the conversation, after it went on and was opened once more. */
async function goneOn({ engine }: Stage, path: string) {
  const opened = await engine.open(path, { maxTokens: 1_000 })
  const messages = JSON.stringify(opened.messages())
  opened.add({ role: 'user', content: 'And now go on.' })
  const turn = await opened.send()
  const after = JSON.stringify(opened.messages())
  await opened.close()
  const again = await engine.open(path, { maxTokens: 1_000 })
  const isSame = JSON.stringify(again.messages()) === after
  await again.close()
  return { messages, turn: turn.type, isSame, isOn: after.includes('And now go on.') }
}

const goodEnd = { turn: 'answered', isSame: true, isOn: true }

/** A line that was cut stays one, and costs nothing else. */
function otherErrors(path: string) {
  return fsck(path).findings.filter(({ type, severity }) => severity === 'error' && !/^(?:torn|lost-text)$/.test(type))
}

test.for(cases)(
  'a kill at any change of a compaction $name leaves it undone or whole',
  { timeout: 90_000 },
  async (found) => {
    const { stage, folder, late } = await readyFor(found)
    const order = { model: found.model, ...(found.keepsLast ? { upTo: late } : {}) }
    const path = copied(folder)
    const original = readFileSync(path)
    const { outcome, changes } = await compacted(path, order)
    expect(outcome).toBe(found.hasNotes ? 'session-memory' : 'offline')
    const before = await goneOn(stage, copied(folder))
    const after = await goneOn(stage, copied(dirname(path)))
    expect([before, after]).toMatchObject([goodEnd, goodEnd])
    expect(after.messages).not.toBe(before.messages)

    const ends: string[] = []
    for (const [at, change] of changes.entries()) {
      for (const cut of cutsOf(change, { isThorough: found === cases[0] })) {
        const left = copied(folder)
        const place = (named: string) => named.replace(dirname(path), dirname(left))
        for (const earlier of changes.slice(0, at)) makeChange(earlier, place)
        makeChange(change, place, cut)
        const { messages, ...end } = await goneOn(stage, left)
        expect({ at, cut, ...end }).toEqual({ at, cut, ...goodEnd })
        expect([before.messages, after.messages]).toContain(messages)
        ends.push(messages === after.messages ? 'whole' : 'undone')
        expect(readFileSync(left).subarray(0, original.length).equals(original)).toBe(true)
        expect(otherErrors(left)).toEqual([])
        rmSync(dirname(left), { recursive: true })
      }
    }
    // Once it is whole it stays whole.
    expect(ends).toEqual(ends.toSorted())
    expect(new Set(ends)).toEqual(new Set(['undone', 'whole']))
  },
)

const kills = 4

test('real processes killed at any moment of it leave it undone or whole', { timeout: 240_000 }, async () => {
  const [found] = cases as readonly [Case]
  const { stage, folder } = await readyFor(found)
  const whole = copied(folder)
  await compacted(whole, found)
  const before = (await goneOn(stage, copied(folder))).messages
  const after = timeless((await goneOn(stage, whole)).messages)
  const left: string[] = []
  for (let kill = 0; kill < kills; kill++) {
    const path = copied(folder)
    const { child, ended, lines } = start(path, { model: found.model }, { isSlow: true })
    await lines.next()
    await pause((kill * 700) / kills)
    child.kill('SIGKILL')
    await ended
    const { messages, ...end } = await goneOn(stage, path)
    expect(end).toEqual(goodEnd)
    left.push(messages === before ? 'undone' : timeless(messages) === after ? 'whole' : messages.slice(0, 300))
  }
  expect(left.filter((what) => what !== 'undone' && what !== 'whole')).toEqual([])
})

/** Ids, times and folders differ from run to run. */
function timeless(messages: string): string {
  const ids = /[0-9a-f]{8}-[0-9a-f-]{27}/g
  return messages
    .replaceAll(ids, 'id')
    .replaceAll(/"time":\d+/g, '"time":0')
    .replaceAll(/everlong-crash-\w+\W+\d+/g, '')
}
