import { text } from '@everlong/simulator'
import type { EngineSettings } from 'everlong'
import { checkRequest, textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { describe, expect, test } from 'vitest'
import { fill } from '../testing/history.ts'
import { stagesOverHttp } from '../testing/over-http.ts'

const setStage = stagesOverHttp()
const hour = 3_600_000
const notBySize = { bySize: { minFreed: 1_000_000 } }
const notByCacheEdit = { byCacheEdit: { trigger: 1_000 } }

/** Window 80,000, 8,000 for output: no compaction comes before 59,000 tokens. */
async function stageWith(reductions: EngineSettings['reductions'], ports: { readonly now?: () => number } = {}) {
  const stage = await setStage({
    window: 80_000,
    script: () => text('Here you are.'),
    engine: { ports, settings: { maxOutputTokens: 8_000, reductions: { reproducible: ['Read'], ...reductions } } },
  })
  const session = await stage.engine.start({ maxTokens: 1_000, system: 'You answer.' })
  return { stage, session }
}

async function ask(session: Session, content: string) {
  session.add({ role: 'user', content })
  const turn = await session.send()
  if (turn.type !== 'answered') throw new Error(turn.type)
  return turn.prepared
}

const cleared = (session: Session) =>
  session.messages().filter(({ content }) => textOf(content).includes('[Old tool result content cleared]')).length

describe('each micro-compaction alone', () => {
  test('by size: old results leave, no model is asked for it, and the request is taken', async () => {
    const { stage, session } = await stageWith({
      ...notByCacheEdit,
      microCompact: 'always',
      bySize: { target: 5_000, minFreed: 1_000 },
      weigh: false,
    })
    fill(session, { rounds: 12, tokens: 2_000 })
    const prepared = await ask(session, 'Go on.')
    expect(prepared.tried.map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)).toEqual([
      'micro-by-idle declined',
      'micro-by-cache-edit declined',
      'micro-by-size done',
    ])
    expect(cleared(session)).toBeGreaterThan(3)
    expect(checkRequest(prepared.messages)).toEqual([])
    expect(stage.sent.map(({ request }) => request.source)).toEqual(['turn'])
  })

  test('by idle time: after a pause that no cache outlives', async () => {
    let now = Date.UTC(2026, 10, 2)
    const { session } = await stageWith({ ...notByCacheEdit, ...notBySize }, { now: () => now })
    fill(session, { rounds: 12, tokens: 2_000 })
    expect((await ask(session, 'Go on.')).tried.map(({ outcome }) => outcome)).not.toContain('done')
    now += 2 * hour
    const prepared = await ask(session, 'I am back.')
    expect(prepared.tried).toMatchObject([{ mechanism: 'micro-by-idle', outcome: 'done' }])
    expect(cleared(session)).toBeGreaterThan(3)
  })

  test('by cache edit: the server is asked to leave results out, and the messages stay as they are', async () => {
    const reductions = { ...notBySize, keepFinished: true, byCacheEdit: { trigger: 12, keep: 5 } }
    const { stage, session } = await stageWith(reductions)
    fill(session, { rounds: 12, tokens: 2_000 })
    const prepared = await ask(session, 'Go on.')
    expect(prepared.tried.map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)).toContain(
      'micro-by-cache-edit done',
    )
    expect(cleared(session)).toBe(0)
    const edits = [expect.objectContaining({ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 5 } })]
    expect(stage.sent.at(-1)?.request.options).toEqual({ context_management: { edits } })
    const [event, ...others] = stage.events.filter((one) => one.type === 'micro-compacted')
    expect(others).toEqual([])
    expect(event?.results).toBe(7)
    expect((event?.tokensBefore ?? 0) - (event?.tokensAfter ?? 0)).toBeGreaterThan(7 * 2_000)
  })
})
