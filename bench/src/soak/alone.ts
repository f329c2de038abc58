// The engine alone over a long session: a model that always calls the same tool, a transcript on disk, compactions without
// a model. What the process holds at its end is the engine's.
import { createEngine, type ModelClient } from 'everlong'
import { offline } from 'everlong/models'
import { heapInUse } from './heap.ts'

export type Alone = {
  readonly turns: number
  /** Megabytes, after a collection. */
  readonly heap: readonly { readonly turn: number; readonly megabytes: number }[]
}

export async function runAlone(path: string, turns: number): Promise<Alone> {
  const engine = createEngine({
    model: caller(),
    environment: {},
    settings: { contextWindow: 40_000, maxOutputTokens: 4_000 },
  })
  const session = await engine.open(path, { maxTokens: 4_000 })
  session.add({ role: 'user', content: 'Read everything.' })
  const heap: { readonly turn: number; readonly megabytes: number }[] = []
  for (let turn = 1; turn <= turns; turn++) {
    const sent = await session.send()
    if (sent.type !== 'answered') throw new Error(`Turn ${turn} was not answered: ${sent.type}.`)
    const id = String(sent.answer.content[0]?.id)
    const content = `export const value${turn} = call${turn}(x)\n`.repeat(60)
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] })
    if (turn % (turns / 10) === 0) heap.push({ turn, megabytes: heapInUse() })
  }
  await session.close()
  return { turns, heap }
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
