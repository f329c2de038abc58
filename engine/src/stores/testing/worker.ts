// A worker process for the scenario of many workers: takes any session, runs a few turns, releases it, until all are done.
// Reports acknowledged records on stdout, which a kill cannot undo.
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { ModelClient } from '../../core/ports/model.ts'
import { StoreError } from '../../core/ports/session-store.ts'
import type { Session } from '../../core/session/session-api.ts'
import { scripted } from '../../core/session/testing/world.ts'
import { createEngine, type Engine } from '../../engine.ts'
import { mulberry32 } from '../../testing/random.ts'
import { type PostgresStore, postgres } from '../postgres/postgres.ts'

export type WorkerInput = {
  readonly url: string
  readonly schema: string
  readonly name: string
  readonly seed: number
  readonly sessions: number
  readonly turns: number
  readonly leaseMs: number
}

/** An acknowledgement that a worker received. */
export type Acknowledged = { readonly session: string; readonly asked: string; readonly answered: string }

export type WorkerLine = Acknowledged | { readonly lost: string } | { readonly done: true }

const say = (line: WorkerLine) => void writeSync(1, `${JSON.stringify(line)}\n`)

export const sessionName = (at: number) => `session-${at}`
export const prompt = (id: string, turn: number) =>
  `This is turn ${turn} of ${id}. ${'Some more words. '.repeat(turn % 9)}`

export async function work(input: WorkerInput): Promise<void> {
  const { url, schema, leaseMs, sessions } = input
  const store = postgres({ url, schema, leaseMs, tenant: 'scenario' })
  const random = mulberry32(input.seed)
  const listing = 'A line of a large file that is read again and again. '.repeat(60)
  const quick = scripted(({ messages }) => `Answer to ${messages.length} messages. ${random() < 0.2 ? listing : ''}`)
  // Slow, so that workers are killed and paused in the middle of a turn.
  const model: ModelClient = {
    ...quick,
    send: async (request) => {
      await pause(random() * 30)
      return quick.send(request)
    },
  }
  const engine = createEngine({ model, store })
  const open = new Set(Array.from({ length: sessions }, (_, at) => sessionName(at)))
  const parent = process.ppid
  // Workers of a killed test run must not query an absent database forever.
  while (open.size > 0 && process.ppid === parent) {
    const id = [...open][Math.floor(random() * open.size)] ?? ''
    try {
      if (await someTurns({ engine, store, id, random, input })) open.delete(id)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // Another worker has it or took it, or the database is down.
      if (/taken over|Not stored/.test(error.message)) say({ lost: `${id}: ${error.message}` })
      await pause(5 + random() * 20)
    }
  }
  await store.close()
  say({ done: true })
}

type Visit = {
  readonly engine: Engine
  readonly store: PostgresStore
  readonly id: string
  readonly random: () => number
  readonly input: WorkerInput
}

/** Returns whether the session is finished. */
async function someTurns({ engine, store, id, random, input }: Visit): Promise<boolean> {
  const { turns, name } = input
  const session = await engine.open(id, { owner: name, ifMissing: 'start' })
  try {
    const state = await progressOf(store, id)
    let { turn } = state
    if (turn > 0 && !state.isAnswered) await answer(session, id, state.asked)
    for (let left = 1 + Math.floor(random() * 5); left > 0 && turn < turns; left--) {
      if (turn === Math.floor(turns / 2) && !state.isCompacted) await session.compact()
      turn++
      const [asked = ''] = session.add({ role: 'user', content: prompt(id, turn) })
      await answer(session, id, asked)
    }
    return turn >= turns
  } finally {
    await session.close()
  }
}

async function answer(session: Session, id: string, asked: string): Promise<void> {
  const turn = await session.send()
  if (turn.type !== 'answered') throw new Error(`A turn of ${id} was ${turn.type}.`)
  say({ session: id, asked, answered: turn.uuid })
}

/** The progress of the session: its newest prompt, and whether an answer follows it. */
async function progressOf(store: PostgresStore, id: string) {
  let state = { turn: 0, asked: '', isAnswered: true, isCompacted: false }
  for await (const { record } of store.records(id)) {
    const text = JSON.stringify(record)
    if (record.subtype === 'compact_boundary') state = { ...state, isCompacted: true }
    const said = record.type === 'user' ? /This is turn (\d+) of/.exec(text)?.[1] : undefined
    if (said !== undefined && record.isCompactSummary !== true) {
      state = { ...state, turn: Number(said), asked: String(record.uuid), isAnswered: false }
    } else if (record.type === 'assistant') state = { ...state, isAnswered: true }
  }
  return state
}

if (process.argv[2]?.startsWith('{')) await work(JSON.parse(process.argv[2]) as WorkerInput)
