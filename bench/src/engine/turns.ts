// What the engine costs a host with each turn: a result added, the next request prepared, its answer recorded. Measured on
// sessions in memory that grew to a length; no model is asked and no disk written.
import { type ModelClient, offline } from 'everlong'
import { createEngine, type Session } from 'everlong/node'
import { type Sample, stopwatch, typical } from '../timing.ts'

const turns = 100

type Case = {
  readonly name: string
  readonly messages: number
  readonly model: string
  /** Whose answers the session holds when the turns begin. */
  readonly grownWith: string
}

const calm = { name: 'nothing is to be done', model: 'claude-opus-4-6', grownWith: 'claude-opus-4-6' } as const
const cases: readonly Case[] = [
  { ...calm, messages: 10 },
  { ...calm, messages: 1_000 },
  { ...calm, messages: 10_000 },
  {
    name: 'after a change to a model that binds thinking: that of all older answers is left out',
    messages: 10_000,
    model: 'claude-fable-5-2',
    grownWith: 'claude-opus-4-6',
  },
]

/** Milliseconds. */
export type TurnTimes = {
  readonly name: string
  readonly messages: number
  /** Repairs in the last request. */
  readonly repairs: number
  readonly add: number
  readonly prepare: number
  readonly turn: number
}

export async function measureTurns(): Promise<readonly TurnTimes[]> {
  const found: TurnTimes[] = []
  for (const one of cases) found.push(await turnsAt(one))
  return found
}

async function turnsAt({ name, messages, model: named, grownWith }: Case): Promise<TurnTimes> {
  const model: ModelClient = { ...offline(), model: named }
  // By default a session this long would be compacted at once.
  const settings = { contextWindow: 5_000_000, economy: 'claude-code' } as const
  const engine = createEngine({ model, environment: {}, settings })
  const session = await engine.start({
    system: 'You work.',
    tools: [{ name: 'Read', input_schema: { type: 'object' } }],
  })
  session.add({ role: 'user', content: 'Go.' })
  for (let at = 0; at < messages / 2; at++) answer(session, at, grownWith)
  await session.prepare()
  const add: Sample[] = []
  const prepare: Sample[] = []
  let repairs = 0
  for (let at = 0; at < turns; at++) {
    const adding = stopwatch()
    answer(session, messages / 2 + at, named)
    add.push(adding())
    const preparing = stopwatch()
    const ready = await session.prepare()
    prepare.push(preparing())
    const sent = ready.type === 'ready' ? ready.messages.length : 0
    if (sent <= messages) throw new Error(`A session of ${messages} messages was to send them all, and sent ${sent}.`)
    if (ready.type === 'ready') repairs = ready.repairs.length
  }
  const times = { add: typical(add), prepare: typical(prepare) }
  return { name, messages, repairs, ...times, turn: times.add + times.prepare }
}

/** An answer that thinks and calls a tool, and the tool's result. */
function answer(session: Session, at: number, model: string): void {
  const id = `toolu_${at}`
  session.record({
    id: `msg_${at}`,
    model,
    content: [
      { type: 'thinking', thinking: 'Which file is next?', signature: 'c2lnbmVk' },
      { type: 'tool_use', id, name: 'Read', input: { file_path: `src/file-${at % 50}.ts` } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 10, cache_read_input_tokens: 200 * at, output_tokens: 60 },
  })
  const content = 'export const value = 1 // one line of code among others\n'.repeat(10)
  session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] })
}
