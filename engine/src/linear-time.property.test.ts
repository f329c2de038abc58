// The time for a text grows at most linearly with its length, for any text in any place. Each session has one hostile string in
// every place; four times the text may take at most about four times the time. `npm run soak:properties -- linear-time` tries
// texts of 16 and 64 kB, or with EVERLONG_TEXT_KB=1024 of 1 and 4 MB.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { noOutcome } from './core/ports/hooks.ts'
import { answerOf, scripted } from './core/session/testing/world.ts'
import { offline } from './models/offline.ts'
import { createEngine } from './node-engine.ts'

const size = Number(process.env.EVERLONG_TEXT_KB ?? 6) * 1024
const folder = mkdtempSync(join(tmpdir(), 'everlong-linear-'))
const cacheBefore = process.env.EVERLONG_CACHE_DIR
beforeAll(() => {
  process.env.EVERLONG_CACHE_DIR = join(folder, 'cache')
})
afterAll(() => {
  if (cacheBefore === undefined) delete process.env.EVERLONG_CACHE_DIR
  else process.env.EVERLONG_CACHE_DIR = cacheBefore
  rmSync(folder, { recursive: true, force: true })
})

const repeated = [
  'a',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '.',
  '-',
  '=',
  '_',
  '1',
  '1,',
  '"',
  '`',
  '(',
  '[',
  '{',
  '<',
  '*',
  '#',
  '漢',
]
  .concat(['a ', 'a/', 'a.', '"a ', 'http://a.', 'Error: ', 'Never do. ', 'Is it? ', '# a\n', '- a\n', 'src/a.ts '])
  .concat(['<system-reminder>', '<analysis>', '```\n', 'cd a && ', 'cat <<E\n', 'key=', '\ud83d', '\u001b[31m', '\0'])

type Steps = Readonly<Record<string, number>>
type Laps = { readonly lap: <T>(step: string, run: () => T | Promise<T>) => Promise<T>; readonly steps: Steps }

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Whether each step starts with an empty heap. That takes longer than most steps, so the first attempt does without. */
let collectsGarbage = false

/** Processor time of this thread, so that other work on the machine does not count. */
function stopwatch(): Laps {
  const steps: Record<string, number> = {}
  const lap = async <T>(step: string, run: () => T | Promise<T>): Promise<T> => {
    // Otherwise a step also pays for the garbage of earlier ones.
    if (collectsGarbage) collectGarbage()
    const start = process.threadCpuUsage()
    const result = await run()
    const { user, system } = process.threadCpuUsage(start)
    steps[step] = (user + system) / 1000
    return result
  }
  return { lap, steps }
}

const capabilities = { ...offline().capabilities('offline'), window: 1_000_000_000 }
const settings = { contextWindow: 1_000_000_000, sessionMemory: false } as const

/** A session with the text in every place that a tool, a file, a person or a hook fills. */
async function everywhere(text: string): Promise<Steps> {
  const own = mkdtempSync(join(folder, 's-'))
  const path = join(own, 'session.jsonl')
  const page = join(own, 'page.md')
  writeFileSync(page, text)
  const engine = createEngine({
    model: { ...offline(), capabilities: () => capabilities },
    hooks: { run: async () => ({ ...noOutcome, context: [text] }) },
    files: { read: async (file) => ({ type: 'text', text: file === page ? readFileSync(page, 'utf8') : text }) },
    environment: {},
    settings,
  })
  const { lap, steps } = stopwatch()
  const session = await engine.start({ path, envelope: { cwd: own } })
  let calls = 0
  const call = (name: string, input: object, content: string, isError = false) => {
    const id = `t${++calls}`
    session.record(answerOf([{ type: 'tool_use', id, name, input }], { id: `m${id}` }))
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] })
  }
  await lap('add', () => {
    session.add({ role: 'user', content: 'Please begin the work on the parser.' })
    session.record(answerOf(text, { id: 'answer' }))
    session.add({ role: 'user', content: text })
    call('Bash', { command: 'npm test' }, text)
    call('Bash', { command: 'npm test' }, text, true)
    call('Bash', { command: text }, 'ok')
    call('Read', { file_path: page }, text)
    call('Read', { file_path: `/${text}` }, 'ok')
    call('Write', { file_path: '/a/b.ts', content: text }, 'ok')
    call('Edit', { file_path: '/a/b.ts', old_string: text, new_string: `${text}x` }, 'ok')
    call('apply_patch', { input: `*** Begin Patch\n${text}` }, 'ok')
    call('TodoWrite', { todos: [{ content: text, status: 'pending' }] }, 'ok')
    call('mcp__x__y', { [text]: text }, text)
  })
  await lap('prepare', () => session.prepare())
  session.record(answerOf('Done.', { id: 'done' }))
  session.add({ role: 'user', content: 'And then.' })
  await lap('compact', () => session.compact({ instructions: text }))
  await lap('prepare again', () => session.prepare())
  await lap('recall', () => session.recall('parser'))
  await lap('recall the text', () => session.recall(text))
  await session.close()
  const again = await lap('reopen', () => engine.open(path, { envelope: { cwd: own } }))
  await again.close()
  // A few of them would fill a disk.
  rmSync(own, { recursive: true, force: true })
  return steps
}

/** A session whose model writes the text into its summary. */
async function summarized(text: string): Promise<Steps> {
  const summary = `<summary>\n1. Primary request and intent:\n- Mend the parser as the user asked.\n8. Current work:\nx${text}x\n</summary>`
  const model = scripted((request) => (request.source === 'turn' ? 'Well.' : summary), { capabilities })
  const session = await createEngine({ model, environment: {}, settings }).start()
  session.add({ role: 'user', content: 'Please begin the work on the parser.' })
  for (let at = 0; at < 4; at++)
    session.record(answerOf(`plain words ${at} `.repeat(text.length / 4), { id: `m${at}` }))
  session.add({ role: 'user', content: 'And then.' })
  const { lap, steps } = stopwatch()
  await lap('compact', () => session.compact())
  await lap('prepare again', () => session.prepare())
  return steps
}

/** A shorter step is noise. */
const least = 5
const mostTimes = 5

/**
 * Steps in which four times the text takes far more than four times the time, in every attempt. A single such ratio can come from
 * a cache that the larger text no longer fits, so the ratio at the next size must exceed the limit too.
 */
async function slowSteps(run: (length: number) => Promise<Steps>): Promise<readonly string[]> {
  const first = await slowAt(size, run)
  if (first.length === 0) return []
  const next = await slowAt(4 * size, run)
  return next.filter(({ step }) => first.some((slow) => slow.step === step)).map(({ text }) => text)
}

async function slowAt(length: number, run: (length: number) => Promise<Steps>) {
  let small: Steps | undefined
  let large: Steps | undefined
  let slow: readonly string[] = []
  for (let attempt = 0; attempt < 4; attempt++) {
    collectsGarbage = attempt > 0
    const [less, more] = [lowest(small, await run(length)), lowest(large, await run(4 * length))]
    slow = Object.keys(more).filter((step) => (more[step] ?? 0) > mostTimes * Math.max(least, less[step] ?? 0))
    if (slow.length === 0) return []
    small = less
    large = more
  }
  return slow.map((step) => ({ step, text: `${step}: ${small?.[step]} ms, then ${large?.[step]} ms` }))
}

function lowest(one: Steps | undefined, other: Steps): Steps {
  return Object.fromEntries(
    Object.entries(other).map(([step, time]) => [step, Math.min(one?.[step] ?? Number.POSITIVE_INFINITY, time)]),
  )
}

const textOf = (unit: string) => (length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

// A text that seems slow is measured again several times and at larger sizes.
const patient = { timeout: 180_000 }

test.for(repeated)('in every place: %j again and again', patient, async (unit) => {
  expect(await slowSteps((length) => everywhere(textOf(unit)(length)))).toEqual([])
})

test.for(repeated)('in a summary: %j again and again', patient, async (unit) => {
  expect(await slowSteps((length) => summarized(textOf(unit)(length)))).toEqual([])
})
