import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createLedger } from '../../core/ledger/ledger.ts'
import { parseNotes, renderNotes } from '../../core/memory/notes.ts'
import type { ModelClient, ModelRequest } from '../../core/ports/model.ts'
import { acquireLease, type Lease, lockPathOf } from '../lease/lease.ts'
import { openMemory } from './session-memory.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-memory-'))
afterAll(() => rmSync(folder, { recursive: true }))

const conversation: ModelRequest = { source: 'turn', model: 'm', messages: [] }

/** Answers with one section; `during` runs while the model "thinks". */
function client(section: string, body: string, during?: (request: ModelRequest) => void): ModelClient {
  return {
    provider: 'test',
    model: 'm',
    capabilities: () => ({
      cacheEdits: false,
      contextManagement: false,
      compaction: 'none',
      promptCache: true,
      offline: false,
    }),
    send: async (request) => {
      during?.(request)
      return {
        type: 'answer',
        id: 'a',
        model: 'm',
        content: [{ type: 'text', text: `<section name="${section}">\n${body}\n</section>` }],
        stopReason: 'end_turn',
        usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 },
      }
    },
  }
}

const inputOf = (model: ModelClient) => ({
  conversation,
  messages: [],
  ledger: createLedger().ledger(),
  model,
  countTokens: (text: string) => text.length / 4,
})

const bodyOf = (path: string, heading: string) =>
  parseNotes(readFileSync(path, 'utf8')).find((section) => section.heading === heading)?.body

test('notes lie beside the session, are made by the first extraction and changed by the next', async () => {
  const memory = openMemory(join(folder, 'one.jsonl'))
  expect(memory.path).toBe(join(folder, 'one', 'session-memory', 'summary.md'))
  expect(memory.notes()).toBeUndefined()
  await memory.extract(inputOf(client('Worklog', 'first')))
  await memory.extract(inputOf(client('Learnings', 'second')))
  expect(bodyOf(memory.path, 'Worklog')).toBe('first')
  expect(bodyOf(memory.path, 'Learnings')).toBe('second')
  expect(readdirSync(join(folder, 'one', 'session-memory'))).toEqual(['summary.md'])
})

test('what a person writes into the file during an extraction stays', async () => {
  const memory = openMemory(join(folder, 'two.jsonl'))
  await memory.extract(inputOf(client('Worklog', 'first')))
  const edit = () => {
    const notes = (memory.notes() ?? []).map((section) =>
      section.heading === 'Worklog' ? { ...section, body: 'first\nby hand' } : section,
    )
    writeFileSync(memory.path, renderNotes(notes))
  }
  await memory.extract(inputOf(client('Worklog', 'first\nby the model', edit)))
  expect(bodyOf(memory.path, 'Worklog')).toBe('first\nby hand\nby the model')
})

test('a template and a prompt of one’s own are used', async () => {
  const memory = openMemory(join(folder, 'three.jsonl'))
  const config = join(folder, 'three', 'session-memory', 'config')
  mkdirSync(config, { recursive: true })
  writeFileSync(join(config, 'template.md'), '# Findings\n_Only these._\n')
  writeFileSync(join(config, 'prompt.md'), 'Note findings, in verse.')
  let asked = ''
  const model = client('Findings', 'a rhyme', (request) => {
    asked = JSON.stringify(request.messages)
  })
  await memory.extract(inputOf(model))
  expect(readFileSync(memory.path, 'utf8')).toBe('# Findings\n_Only these._\na rhyme\n')
  expect(asked).toContain('Note findings, in verse.')
})

test('whoever lost the lock during an extraction writes nothing', async () => {
  const memory = openMemory(join(folder, 'lost.jsonl'))
  let other: Lease | undefined
  const takeOver = () => {
    rmSync(lockPathOf(memory.path))
    const taken = acquireLease(memory.path, { owner: 'another process' })
    other = taken.type === 'acquired' ? taken.lease : undefined
  }
  expect(await memory.extract(inputOf(client('Worklog', 'late', takeOver)))).toMatchObject({
    type: 'failed',
    reason: 'another process took over',
  })
  expect([memory.notes(), other?.confirm()]).toEqual([undefined, { type: 'held' }])
  other?.release()
})

test('two extractions at once take turns', async () => {
  const memory = openMemory(join(folder, 'four.jsonl'))
  const other = openMemory(join(folder, 'four.jsonl'))
  await Promise.all([
    memory.extract(inputOf(client('Worklog', 'one'))),
    other
      .extract(inputOf(client('Learnings', 'two')))
      .then((first) => (first.type === 'failed' ? other.extract(inputOf(client('Learnings', 'two'))) : first)),
  ])
  expect(bodyOf(memory.path, 'Worklog')).toBe('one')
  expect(bodyOf(memory.path, 'Learnings')).toBe('two')
})

test('a wait for a running extraction ends after 15 seconds, and one older than 60 is taken for dead', async () => {
  mkdirSync(join(folder, 'five', 'session-memory'), { recursive: true })
  let time = Date.now()
  const waited: number[] = []
  const wait = async (milliseconds: number) => {
    waited.push(milliseconds)
    time += milliseconds
  }
  const memory = openMemory(join(folder, 'five.jsonl'), { now: () => time, wait })
  const held = acquireLease(memory.path, { owner: 'somebody', durationMs: 300_000 })
  expect(await memory.settled()).toBe('still-running')
  expect(waited.reduce((sum, each) => sum + each, 0)).toBe(15_000)
  time += 60_000
  expect(await memory.settled()).toBe('settled')
  if (held.type === 'acquired') held.lease.release()
})

test('an extraction that was killed in the middle leaves the notes as they were, and the next one continues at once', async () => {
  const memory = openMemory(join(folder, 'six.jsonl'))
  await memory.extract(inputOf(client('Worklog', 'before')))
  const module = new URL('./session-memory.ts', import.meta.url).href
  const script = `
    const { openMemory } = await import(${JSON.stringify(module)})
    const memory = openMemory(${JSON.stringify(join(folder, 'six.jsonl'))})
    const model = {
      capabilities: () => ({ offline: false }),
      send: () => { process.stdout.write('asked'); return new Promise(() => setInterval(() => {}, 1000)) },
    }
    await memory.extract({ conversation: { model: 'm', messages: [] }, messages: [], ledger: {}, model, countTokens: () => 1 })
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const gone = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGKILL')
  await gone
  expect(existsSync(`${memory.path}.lock`)).toBe(true)
  expect(bodyOf(memory.path, 'Worklog')).toBe('before')
  expect((await memory.extract(inputOf(client('Worklog', 'after')))).type).toBe('extracted')
  expect(bodyOf(memory.path, 'Worklog')).toBe('after')
})

test('what is remembered between extractions is read back, and damage counts as nothing', () => {
  const memory = openMemory(join(folder, 'seven.jsonl'))
  memory.saveProgress({ tokens: 12_000, lastSeen: 'u', failures: 2 })
  expect(memory.progress()).toEqual({ tokens: 12_000, lastSeen: 'u', failures: 2 })
  writeFileSync(join(folder, 'seven', 'session-memory', 'progress.json'), '{broken')
  expect(memory.progress()).toEqual({ failures: 0 })
})
