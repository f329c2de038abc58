// Notes of one session among real processes, which take turns and are killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { type RunningServer, type Script, startServer, text } from '@everlong/simulator'
import { textOf } from 'everlong/internal'
import { openMemory } from 'everlong/internal/node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { gate, until } from '../testing/over-http.ts'

let folder = ''
let server: RunningServer | undefined
const children = new Set<ChildProcess>()
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-notes-'))
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const transcript = () => join(folder, 'session.jsonl')
const notesFolder = () => join(folder, 'session', 'session-memory')

/** Each extraction keeps all earlier notes, so one that overwrote another's would show. */
const noting: Script = ({ messages }) => {
  const all = messages.map(({ content }) => textOf(content)).join('\n')
  const known = all.match(/^- \w+ \d+$/gm) ?? []
  const [, name, nth] = /This is (\w+) (\d+)\./.exec(all) ?? []
  return text(`<section name="Worklog">\n${[...known, `- ${name} ${nth}`].join('\n')}\n</section>`)
}

async function serve(script: Script): Promise<void> {
  server = await startServer({ script })
}

type Line = { readonly name: string; readonly nth?: number; readonly type: string }

function startWorker(name: string, times: number) {
  const script = join(import.meta.dirname, '../testing/note-worker.ts')
  const child = spawn(process.execPath, [script, transcript(), server?.url ?? '', name, String(times)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  const lines: Line[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { lines, ended, kill }
}

const extracted = (lines: readonly Line[]) => lines.filter(({ type }) => type === 'extracted')
const asNoted = ({ name, nth }: Line) => `- ${name} ${nth}`

/** The file is whole: every section of the template, and in the worklog nothing but whole lines. */
function worklog(): readonly string[] {
  const notes = openMemory(transcript()).notes() ?? []
  expect(notes.map(({ heading }) => heading)).toEqual(
    openMemory(transcript())
      .template()
      .map(({ heading }) => heading),
  )
  const lines = (notes.find(({ heading }) => heading === 'Worklog')?.body ?? '')
    .split('\n')
    .filter((line) => line !== '')
  expect(lines.filter((line) => !/^- \w+ \d+$/.test(line))).toEqual([])
  return lines
}

test('two processes take turns: never two extractions at once, none overwrites the other, the file is whole', async () => {
  let running = 0
  let most = 0
  const isThere = ({ lines }: { readonly lines: readonly Line[] }) => lines.some(({ type }) => type === 'ready')
  await serve(async (request, context) => {
    running++
    most = Math.max(most, running)
    // The first one waits for the other, which would now ask if nothing prevented it.
    await until(() => workers.every(isThere))
    await pause(100)
    running--
    return noting(request, context)
  })
  const workers = [startWorker('heron', 4), startWorker('owl', 4)]
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0])
  expect(most).toBe(1)
  const done = workers.flatMap(({ lines }) => extracted(lines)).map(asNoted)
  expect(done).toHaveLength(8)
  expect(worklog().toSorted()).toEqual(done.toSorted())
  expect(readdirSync(notesFolder())).toEqual(['summary.md'])
})

test('one that is killed while the model works leaves the notes as they were, and the next takes its lock over', async () => {
  const { opened: asked, open: tellAsked } = gate()
  await serve(async (request, context) => {
    if (!JSON.stringify(request.messages).includes('This is slow')) return noting(request, context)
    tellAsked()
    return new Promise(() => undefined)
  })
  await startWorker('first', 1).ended
  const before = readFileSync(join(notesFolder(), 'summary.md'), 'utf8')
  const slow = startWorker('slow', 1)
  await asked
  await slow.kill()
  expect(readFileSync(join(notesFolder(), 'summary.md'), 'utf8')).toBe(before)
  expect(readdirSync(notesFolder()).toSorted()).toEqual(['summary.md', 'summary.md.lock'])
  const next = startWorker('next', 1)
  expect(await next.ended).toBe(0)
  // At once: nobody waited for the lock of a dead process to run out.
  expect(next.lines.map(({ type }) => type)).toEqual(['ready', 'extracted'])
  expect(worklog()).toEqual(['- first 1', '- next 1'])
})

test('killed at any moment the file is whole, and what was said to be noted is in it', async () => {
  await serve(noting)
  const noted: string[] = []
  for (const [at, name] of ['ant', 'bee', 'cat'].entries()) {
    const worker = startWorker(name, 1_000)
    await until(() => extracted(worker.lines).length >= 3)
    await pause(at * 7)
    await worker.kill()
    noted.push(...extracted(worker.lines).map(asNoted))
    const lines = worklog()
    expect(noted.filter((line) => !lines.includes(line))).toEqual([])
    // At most the one under way was written without a word about it.
    expect(lines.length - noted.length).toBeLessThanOrEqual(at + 1)
  }
})
