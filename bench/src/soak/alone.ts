// The engine alone over a long session: a model that only calls a tool, a person who sets a task now and then, a transcript
// and notes on disk, compactions without a model. What the process holds at its end is the engine's.
import { type ModelClient, offline } from 'everlong'
import { createEngine } from 'everlong/node'
import { bytesInUse } from './heap.ts'

/** What the process held over a stretch of turns, in bytes and after a collection. */
export type Stretch = {
  readonly from: number
  readonly to: number
  /** The least is what stays; between it and the most lies what comes and goes with the live window and with caches. */
  readonly least: number
  readonly most: number
}

export type Alone = {
  readonly turns: number
  readonly stretches: readonly Stretch[]
  /** Bytes a turn between what stayed in the second stretch and in the last one. */
  readonly slope: number
}

const turnsPerTask = 12
const linesPerFile = 60
const stretchTurns = 1_000

export async function runAlone(path: string, turns: number): Promise<Alone> {
  const engine = createEngine({
    model: caller(),
    environment: {},
    settings: { contextWindow: 40_000, maxOutputTokens: 4_000 },
  })
  const session = await engine.start({ path, maxTokens: 4_000 })
  const looks: { readonly turn: number; readonly bytes: number }[] = []
  for (let turn = 1; turn <= turns; turn++) {
    if (turn % turnsPerTask === 1) session.add({ role: 'user', content: `Task ${turn}: read what is left.` })
    const sent = await session.send()
    if (sent.type !== 'answered') throw new Error(`Turn ${turn} was not answered: ${sent.type}.`)
    const id = String(sent.answer.content[0]?.id)
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: fileAt(turn) }] })
    // At its smallest, so that every look sees the same part of the way from one compaction to the next.
    if (sent.prepared.compaction) looks.push({ turn, bytes: bytesInUse() })
  }
  await session.close()
  return { turns, ...overTime(looks) }
}

/** Every line has a name that was never there before: whatever remembers names has to let go of some. */
function fileAt(turn: number): string {
  const lines = Array.from(
    { length: linesPerFile },
    (_, at) => `export const value${turn}x${at} = callTheHelper(${at})`,
  )
  return lines.join('\n')
}

function overTime(looks: readonly { readonly turn: number; readonly bytes: number }[]): Omit<Alone, 'turns'> {
  const stretches = [...Map.groupBy(looks, ({ turn }) => Math.ceil(turn / stretchTurns))].map(([nth, among]) => {
    const bytes = among.map((look) => look.bytes)
    const to = nth * stretchTurns
    return { from: to - stretchTurns + 1, to, least: Math.min(...bytes), most: Math.max(...bytes) }
  })
  const [, second] = stretches
  const last = stretches.at(-1)
  const slope = second && last ? (last.least - second.least) / (last.to - second.to) : Number.NaN
  return { stretches, slope }
}

const noTokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }

function caller(): ModelClient {
  const base = offline()
  let calls = 0
  return {
    ...base,
    model: 'claude-opus-4-5',
    send: async (request, how) => {
      if (request.source !== 'turn') return base.send(request, how)
      calls++
      const input = { file_path: `src/file-${calls % 70}.ts` }
      return {
        type: 'answer',
        id: `msg_${calls}`,
        model: request.model,
        content: [{ type: 'tool_use', id: `toolu_${calls}`, name: 'Read', input }],
        stopReason: 'tool_use',
        usage: noTokens,
      }
    },
  }
}
