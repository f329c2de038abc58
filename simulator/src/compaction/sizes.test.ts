// The size that is told after a compaction is the size that the next answer reports.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Compacted, ModelAnswer } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { isToolUse, objectAt, stringAt } from 'everlong/internal'
import { noOutcome } from 'everlong/internal/compaction'
import { createEngine, type Session } from 'everlong/node'
import { afterAll, expect, test } from 'vitest'
import { text, toolUse } from '../script/answers.ts'
import { route } from '../script/route.ts'
import type { Script } from '../script/script.ts'
import { createSimulator } from '../simulator.ts'
import { asksForNotes, noteTaker } from '../summary/note-taker.ts'
import { asksForSummary, summarizer } from '../summary/summarizer.ts'
import { stillPorts } from '../testing/still-ports.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-sizes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const model = 'claude-opus-4-5'
const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n')

const system = lines(
  80,
  (at) => `${at + 1}. Read before you write, say what you found, and run the tests of module ${at} after each change.`,
)

/** What tools return: code, a log, JSON and prose take different numbers of tokens per character. */
const results: readonly ((file: number, size: number) => string)[] = [
  (file, size) =>
    lines(
      size,
      (at) =>
        `${String(at + 1).padStart(6)}\texport function step_${file}_${at}(row: Row): number { return row.at(${at}) ?? 0 }`,
    ),
  (file, size) =>
    lines(
      size,
      (at) =>
        `2026-11-0${(at % 9) + 1}T10:${10 + (at % 50)}:07.${100 + at}Z worker-${file} INFO request ${at * 7919} took ${at % 97} ms`,
    ),
  (file, size) =>
    JSON.stringify(
      Array.from({ length: size }, (_, at) => ({ id: file * 1_000 + at, name: `user${at}`, isAdmin: at % 2 === 0 })),
      null,
      2,
    ),
  (file, size) =>
    lines(
      size,
      (at) =>
        `Paragraph ${at} of chapter ${file} tells how the harbour was built, who paid for it, and why nobody remembers.`,
    ),
]

const learnings = Array.from(
  { length: 60 },
  (_, at) =>
    `Module ${at} validates its rows in two passes; the second one needs the index of the first, which is rebuilt at start.`,
)

const read = { name: 'Read', description: 'Reads a file.', input_schema: { type: 'object' as const } }
const contentOf = (call: number, size: number) => results[call % results.length]?.(call, size) ?? ''

function world(window: number, settings: object = {}) {
  let calls = 0
  const works: Script = ({ messages }) => {
    if (JSON.stringify(messages.at(-1)?.content).slice(-200).includes('Say hello')) return text('Hello.')
    if (++calls % 5 === 0) return text('These files are read. They hold what the description of the module promises.')
    return toolUse('Read', { file_path: join(folder, `module-${calls}.ts`) })
  }
  const rules = [
    { when: asksForSummary, script: summarizer() },
    { when: asksForNotes, script: noteTaker({ learnings }) },
  ]
  const simulator = createSimulator({ windows: { [model]: window }, script: route(rules, works) })
  const told: { hook: number[]; event: number[] } = { hook: [], event: [] }
  const engine = createEngine({
    model: anthropic({ model, apiKey: 'key', fetch: simulator.fetch, ports: stillPorts() }),
    environment: {},
    settings: { contextWindow: window, sessionMemory: false, reductions: { microCompact: false }, ...settings },
    hooks: {
      run: async (call) => {
        if (call.event === 'PostCompact') told.hook.push(call.tokensAfter)
        return noOutcome
      },
    },
    onEvent: (event) => {
      if (event.type === 'compaction-finished') told.event.push(event.tokensAfter)
    },
  })
  return { engine, told, sent: () => simulator.log.entries.length }
}

const tokensOf = ({ usage: { input, cacheRead, cacheWrite, output } }: ModelAnswer) =>
  input + cacheRead + cacheWrite + output

/** Turns until the context has so many tokens, or a compaction came: the turn in which it came. */
async function work(session: Session, { until, size }: { readonly until: number; readonly size: number }) {
  for (let calls = 0; ; calls++) {
    const last = session.messages().at(-1)
    if (last?.role !== 'user' && session.explain().size.tokens >= until) return undefined
    if (last?.role !== 'user') session.add({ role: 'user', content: `Read the next files, number ${calls}.` })
    const turn = await session.send()
    if (turn.type !== 'answered') throw new Error(JSON.stringify(turn))
    if (turn.compactions.length > 0) return turn
    const content = turn.answer.content.flatMap((block) => {
      if (!isToolUse(block)) return []
      const found = contentOf(calls, size)
      writeFileSync(stringAt(block.input, 'file_path') ?? '', found)
      return [{ type: 'tool_result', tool_use_id: block.id, content: found }]
    })
    if (content.length > 0) session.add({ role: 'user', content })
  }
}

/** What everybody says who names the size after a compaction. */
function toldBy(session: Session, done: Compacted) {
  const { preTokens: before, postTokens: boundary } = objectAt(done.records[0], 'compactMetadata') ?? {}
  return { before, boundary, result: done.after, gauge: session.explain().size.tokens }
}

async function hello(session: Session): Promise<ModelAnswer> {
  session.add({ role: 'user', content: 'Say hello.' })
  const turn = await session.send()
  if (turn.type !== 'answered' || turn.compactions.length > 0) throw new Error(turn.type)
  return turn.answer
}

test.each<[kind: string, window: number, mechanism?: string]>([
  ['by hand', 60_000],
  ['by hand', 200_000],
  ['from a message', 200_000],
  ['up to a message', 200_000],
  ['from notes', 200_000, 'session-memory'],
])('what is told is what the next answer reports: %s, window %i', async (kind, window, mechanism = 'cache-sharing') => {
  const { engine, told } = world(window, kind === 'from notes' ? { sessionMemory: true } : {})
  const path = join(folder, `${kind} ${window}.jsonl`)
  const session = await engine.start({ path, system, tools: [read], envelope: { cwd: folder } })
  // The second time the context begins with a summary.
  for (let round = 0; round < (kind === 'from notes' ? 1 : 2); round++) {
    await work(session, { until: window / 3 + round * 5_000, size: window / 1_200 })
    await session.idle()
    const asked = session.messages().filter(({ origin }) => origin === 'human')
    const { uuid = '' } = asked[Math.floor(asked.length / 2)] ?? {}
    const range = kind === 'from a message' ? { from: uuid } : kind === 'up to a message' ? { upTo: uuid } : {}
    const before = session.explain().size.tokens
    const done = await session.compact(range)
    if (done.type !== 'compacted') throw new Error(done.why)
    expect([done.mechanism, done.before]).toEqual([mechanism, before])
    const { after } = done
    expect(toldBy(session, done)).toEqual({ before, boundary: after, result: after, gauge: after })
    expect([told.hook.at(-1), told.event.at(-1)]).toEqual([after, after])
    expect(Math.abs(after / tokensOf(await hello(session)) - 1)).toBeLessThanOrEqual(0.05)
  }
  await session.close()
})

test.each([60_000, 200_000])('the same for automatic compactions, window %i', async (window) => {
  const { engine, told } = world(window)
  const session = await engine.start({ system, tools: [read], envelope: { cwd: folder } })
  for (let round = 0; round < 2; round++) {
    const turn = await work(session, { until: window, size: window / 1_200 })
    const [done] = turn?.compactions ?? []
    if (!turn || !done) throw new Error('No compaction came.')
    const { gauge: _, ...compared } = toldBy(session, done)
    const { before, after } = done
    expect(compared).toEqual({ before, boundary: after, result: after })
    expect([told.hook.at(-1), told.event.at(-1)]).toEqual([after, after])
    expect(Math.abs(after / tokensOf(turn.answer) - 1)).toBeLessThanOrEqual(0.05)
  }
})

test('a compaction by hand that cannot free a tenth is declined before a model is asked', async () => {
  const { engine, sent } = world(200_000)
  const session = await engine.start({ system, tools: [read], envelope: { cwd: folder } })
  await work(session, { until: 20_000, size: 100 })
  await hello(session)
  const { uuid = '' } = session.messages().findLast(({ origin }) => origin === 'human') ?? {}
  const before = { messages: session.messages(), sent: sent() }
  const declined = await session.compact({ from: uuid })
  expect(declined).toMatchObject({ type: 'failed', reason: 'no-progress' })
  expect(declined).toHaveProperty(
    'why',
    expect.stringMatching(/^It would free less than a tenth of the context: .* Choose an earlier message/),
  )
  expect({ messages: session.messages(), sent: sent() }).toEqual(before)
})

test('restored files do not take back what a compaction manual frees', async () => {
  const { engine } = world(60_000)
  const session = await engine.start({ system, tools: [read], envelope: { cwd: folder } })
  await work(session, { until: 15_000, size: 60 })
  const done = await session.compact()
  if (done.type !== 'compacted') throw new Error(done.why)
  expect(done.after).toBeLessThan(done.before * 0.75)
  expect(done.records.some((record) => objectAt(record, 'attachment')?.type === 'files')).toBe(true)
})

test('messages that came while a compaction was prepared in the background are counted', async () => {
  const { engine, told } = world(60_000, { background: { from: 0.5 } })
  const session = await engine.start({ system, tools: [read], envelope: { cwd: folder } })
  const turn = await work(session, { until: 60_000, size: 60 })
  const [done] = turn?.compactions ?? []
  if (!turn || !done) throw new Error('No compaction came.')
  const kept = objectAt(objectAt(done.records[0], 'compactMetadata'), 'preservedMessages')?.uuids
  expect(kept).toEqual([expect.any(String), expect.any(String)])
  expect([told.hook, told.event]).toEqual([[done.after], [done.after]])
  expect(Math.abs(done.after / tokensOf(turn.answer) - 1)).toBeLessThanOrEqual(0.05)
})
