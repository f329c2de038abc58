// What the engine costs a host with each turn: a result added, the next request prepared, its answer recorded. Measured on
// sessions in memory that grew to a length; no model is asked and no disk written.
import { createEngine, type EngineSession, type ModelClient } from 'everlong'
import { offline } from 'everlong/models'
import { median } from '../results.ts'

const lengths = [1_000, 10_000] as const
const turns = 300

/** Milliseconds. */
export type TurnTimes = {
  readonly messages: number
  readonly add: number
  readonly prepare: number
  readonly turn: number
}

export async function measureTurns(): Promise<readonly TurnTimes[]> {
  const found: TurnTimes[] = []
  for (const messages of lengths) found.push(await turnsAt(messages))
  return found
}

const model: ModelClient = { ...offline(), model: 'claude-opus-4-6' }

async function turnsAt(messages: number): Promise<TurnTimes> {
  const engine = createEngine({ model, environment: {}, settings: { contextWindow: 5_000_000 } })
  const session = await engine.start({
    system: 'You work.',
    tools: [{ name: 'Read', input_schema: { type: 'object' } }],
  })
  session.add({ role: 'user', content: 'Go.' })
  for (let at = 0; at < messages / 2; at++) answer(session, at)
  await session.prepare()
  const add: number[] = []
  const prepare: number[] = []
  for (let at = 0; at < turns; at++) {
    const began = performance.now()
    answer(session, messages / 2 + at)
    const added = performance.now()
    await session.prepare()
    prepare.push(performance.now() - added)
    add.push(added - began)
  }
  const times = { add: median(add), prepare: median(prepare) }
  return { messages, ...times, turn: times.add + times.prepare }
}

/** An answer that calls a tool, and the tool's result. */
function answer(session: EngineSession, at: number): void {
  const id = `toolu_${at}`
  session.record({
    id: `msg_${at}`,
    model: model.model,
    content: [{ type: 'tool_use', id, name: 'Read', input: { file_path: `src/file-${at % 50}.ts` } }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 10, cache_read_input_tokens: 200 * at, output_tokens: 60 },
  })
  const content = 'export const value = 1 // one line of code among others\n'.repeat(10)
  session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] })
}
