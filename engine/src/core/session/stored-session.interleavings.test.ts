// The buffer in every order of events: two writers that append and flush at any moment, a third that closes, and a store that
// answers early or late, fails, loses its answer or never answers. Time is counted in microtasks, so each run is exact and
// repeatable.
import { expect, test } from 'vitest'
import { isAlreadyStored } from '../../stores/rules.ts'
import type { Appended, HeldSession } from '../ports/session-store.ts'
import { StoredSession, type StorePorts } from './stored-session.ts'

/** `lost`: the records are stored, but the writer gets an error. */
type Answer = 'stored' | 'away' | 'lost' | 'throws' | 'refused' | 'silent'

type Run = {
  /** The store's results for the first appends. Later appends succeed. */
  readonly answers: readonly Answer[]
  /** Number of microtasks until an answer. */
  readonly latency: number
  /** The times at which the two writers append, and whether and when the session is closed. */
  readonly first: number
  readonly second: number
  readonly close?: number
}

/** As in a real event loop, a timer fires only after all microtasks have run. No chain of them is longer than this. */
const longestChain = 30
/** Number of microtasks from the store's answer to its arrival in the buffer. */
const longestWay = 4
const maxTicks = 2_000

/** Runs everything and returns the problems. */
async function problemsIn(run: Run): Promise<readonly string[]> {
  const problems: string[] = []
  const time = virtualTime()
  const { session, stored, state } = fakeSession(run, problems)
  const buffer = new StoredSession(session, { newId: () => 'none', ...time.ports })
  const appended: string[] = []
  let open = 0
  const append = (...ids: readonly string[]) => {
    if (buffer.append(ids.map((uuid) => ({ type: 'user', uuid }))).type === 'stored') appended.push(...ids)
  }
  const flush = async () => {
    open++
    const before = [...appended]
    const calledAt = state.tick
    const result = await buffer.flush()
    open--
    const missing = before.filter((id) => !stored.includes(id))
    if (result.type === 'stored' && missing.length > 0) problems.push(`acknowledged, but not stored: ${missing}`)
    if (result.type === 'stored') return
    if (missing.some((id) => !result.why.includes(id))) problems.push(`${missing} is not named: ${result.why}`)
    const isOver = state.isRefused || state.isSilent || (run.close ?? calledAt + 1) <= calledAt
    if (!isOver && state.failedAt < calledAt - longestWay) problems.push(`nothing failed since: ${result.why}`)
  }
  const actions: readonly (readonly [number | undefined, () => unknown])[] = [
    [0, () => append('a')],
    [run.first, () => [append('b'), flush()]],
    [run.second, () => [append('c1', 'c2'), flush()]],
    [run.close, () => buffer.close()],
  ]
  for (let tick = 0, quiet = 0; tick < maxTicks; tick++) {
    state.tick = tick
    const due = actions.filter(([at]) => at === tick)
    for (const [, act] of due) void act()
    await Promise.resolve()
    quiet = due.length > 0 || state.answering > 0 ? 0 : quiet + 1
    if (quiet < longestChain) continue
    if (!time.advance()) break
    quiet = 0
  }
  if (open > 0) problems.push(`${open} calls of flush() never returned`)
  const inOrder = appended.filter((id) => stored.includes(id))
  if (`${stored}` !== `${inOrder}`) problems.push(`stored ${stored}, appended ${appended}`)
  if (run.close !== undefined && state.released !== 1) problems.push(`released ${state.released} times`)
  const isSound = run.answers.every((answer) => answer === 'stored')
  if (isSound && stored.length < appended.length) problems.push(`only ${stored} of ${appended} are stored`)
  return problems
}

/** Fires one timer per call of `advance`, in order. Returns false if there is none. */
function virtualTime(): { readonly ports: Omit<StorePorts, 'newId'>; readonly advance: () => boolean } {
  let clock = 0
  let timers: readonly { readonly at: number; readonly fire: () => void }[] = []
  return {
    ports: {
      now: () => clock,
      wait: (milliseconds, signal) =>
        new Promise((resolve) => {
          const timer = { at: clock + milliseconds, fire: resolve }
          timers = [...timers, timer].toSorted((a, b) => a.at - b.at)
          signal?.addEventListener('abort', () => {
            timers = timers.filter((other) => other !== timer)
            resolve()
          })
        }),
    },
    advance: () => {
      const [next, ...others] = timers
      if (!next) return false
      timers = others
      clock = next.at
      next.fire()
      return true
    },
  }
}

function fakeSession({ answers, latency }: Run, problems: string[]) {
  const left = [...answers]
  const stored: string[] = []
  const state = { answering: 0, tick: 0, failedAt: -1_000, released: 0, isSilent: false, isRefused: false }
  const outcomeOf = (answer: Answer, ids: readonly string[], expected: number): Appended => {
    if (answer === 'throws') throw new Error('The connection broke.')
    if (answer === 'refused') return { type: 'refused', why: 'Taken over.' }
    if (answer === 'away') return { type: 'unavailable', why: 'Away.' }
    if (expected === stored.length) stored.push(...ids)
    else if (!isAlreadyStored(stored.slice(expected), ids)) problems.push(`${ids} at ${expected}, stored ${stored}`)
    return answer === 'lost'
      ? { type: 'unavailable', why: 'Away.' }
      : { type: 'stored', version: expected + ids.length }
  }
  const append: HeldSession['append'] = async (records, expected) => {
    const answer = left.shift() ?? 'stored'
    if (state.released > 0) problems.push('written after the release')
    if (answer === 'silent') {
      state.isSilent = true
      return new Promise(() => undefined)
    }
    state.answering++
    if (state.answering > 1) problems.push('two writes at the same time')
    for (let tick = 0; tick < latency; tick++) await Promise.resolve()
    state.answering--
    if (answer !== 'stored') state.failedAt = state.tick
    if (answer === 'refused') state.isRefused = true
    return outcomeOf(
      answer,
      records.map(({ id }) => id),
      expected,
    )
  }
  const session: HeldSession = {
    id: 's',
    version: 0,
    entries: [],
    isWhole: true,
    append,
    all: async () => [],
    recall: async () => ({ matches: [], more: false }),
    read: async () => undefined,
    release: async () => {
      state.released++
    },
  }
  return { session, stored, state }
}

const behaviors: readonly (readonly Answer[])[] = [
  [],
  ['away'],
  ['lost'],
  ['throws', 'lost'],
  ['refused'],
  ['stored', 'away', 'lost'],
  ['stored', 'refused'],
  ['silent'],
  Array.from({ length: 11 }, () => 'away'),
  ['stored', ...Array.from({ length: 11 }, (): Answer => 'lost')],
]

const moments = Array.from({ length: 24 }, (_, at) => at)

async function problemsOf(runs: Iterable<Run>): Promise<readonly string[]> {
  const found: string[] = []
  for (const run of runs) {
    const problems = await problemsIn(run)
    if (problems.length > 0) found.push(`${JSON.stringify(run)}: ${problems.join('; ')}`)
  }
  return found.slice(0, 5)
}

test('stored means stored, whenever records are appended and flushed', async () => {
  const runs = behaviors.flatMap((answers) =>
    [0, 2].flatMap((latency) =>
      moments.flatMap((first) =>
        moments.filter((at) => at >= first).map((second) => ({ answers, latency, first, second })),
      ),
    ),
  )
  expect(await problemsOf(runs)).toEqual([])
})

test('a session that is closed at any moment is released once, after its last write', async () => {
  const runs = behaviors.flatMap((answers) =>
    [0, 2].flatMap((latency) =>
      moments.flatMap((close) => [0, 3, 6, 9].map((first) => ({ answers, latency, first, second: first + 2, close }))),
    ),
  )
  expect(await problemsOf(runs)).toEqual([])
})
