// Plays the session of the rounds to an engine, request by request, with the usage that a provider would report, and looks
// at the end which of the planted facts the next request still holds.
import { countTokens, createEngine, type EngineSettings, type Message, type ModelClient, type Session } from 'everlong'
import { blocksOf } from 'everlong/internal'
import { systemPrompt } from '../cost/system-prompt.ts'
import type { PlantedFact } from '../rounds/facts.ts'
import { isIn, wordsOf } from '../rounds/measure.ts'
import { summarizing } from '../rounds/ours.ts'
import type { Turn } from '../rounds/session.ts'

export type Kept = {
  readonly economy: string
  readonly compactions: number
  /** Tokens of a request on average. */
  readonly mean: number
  readonly planted: number
  readonly inContext: number
  readonly constraints: readonly [kept: number, planted: number]
}

const model = 'claude-opus-5'
const contextWindow = 200_000
const betweenAnswers = 10_000
const overhead = countTokens([{ role: 'user', content: systemPrompt }])

export async function keptIn(economy: NonNullable<EngineSettings['economy']>, turns: readonly Turn[]): Promise<Kept> {
  let time = Date.UTC(2026, 2, 2)
  let ids = 0
  let compactions = 0
  const client: ModelClient = { ...summarizing(), model }
  const engine = createEngine({
    model: client,
    environment: {},
    settings: { economy, contextWindow, sessionMemory: false },
    files: { read: async () => ({ type: 'missing' }) },
    onEvent: ({ type }) => {
      if (type === 'compaction-finished') compactions++
    },
    ports: { now: () => time, newId: () => `id-${++ids}` },
  })
  const session = await engine.start({ system: systemPrompt, envelope: { cwd: '/home/dev/shop' } })
  const sizes: number[] = []
  for (const { messages } of turns) {
    for (const message of messages) {
      time += betweenAnswers
      if (message.role === 'user') session.add(message)
      else sizes.push(await answered(session, message, `msg_${++ids}`))
    }
  }
  session.add({ role: 'user', content: 'Where are we?' })
  const shown = wordsOf(await nextRequest(session))
  await session.close()
  const facts = turns.flatMap(({ fact }) => (fact ? [fact] : []))
  const kept = facts.filter((fact) => isIn(fact, shown))
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length
  return {
    economy,
    compactions,
    mean: Math.round(mean),
    planted: facts.length,
    inContext: kept.length,
    constraints: [constraintsIn(kept), constraintsIn(facts)],
  }
}

const constraintsIn = (facts: readonly PlantedFact[]) => facts.filter(({ kind }) => kind === 'constraint').length

/** The size of the request. */
async function answered(session: Session, { content }: Message, id: string): Promise<number> {
  const size = overhead + countTokens(await nextRequest(session))
  const usage = { input: 0, output: 0, cacheRead: size, cacheWrite: 0, cacheWriteHour: 0 }
  session.record({ type: 'answer', id, model, content: blocksOf(content), stopReason: 'end_turn', usage })
  return size
}

async function nextRequest(session: Session): Promise<readonly Message[]> {
  const request = await session.prepare()
  if (request.type !== 'ready') throw new Error(request.why)
  return request.messages
}
