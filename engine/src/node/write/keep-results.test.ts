import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { EngineEvent } from '../../core/ports/events.ts'
import { offline } from '../../models/offline.ts'
import { createEngine } from '../../node-engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-keep-results-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const textOf = (at: number) => `line of file ${at}\n`.repeat(600)

/** Six results, of which all but the newest three are cleared before the next request. */
async function cleared(path?: string) {
  const events: EngineEvent[] = []
  const engine = createEngine({
    model: offline(),
    environment: {},
    onEvent: (event) => events.push(event),
    settings: { reductions: { microCompact: 'always', weigh: false, bySize: { target: 1, least: 1 } } },
  })
  const session = await engine.start(path === undefined ? {} : { path })
  session.add({ role: 'user', content: 'Look at the files.' })
  for (let at = 0; at < 6; at++) {
    session.record({ content: [{ type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: `/p/${at}.ts` } }] })
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: textOf(at) }] })
  }
  await session.prepare()
  await session.close()
  const results = events.flatMap((event) => (event.type === 'micro-compacted' ? [event.results] : []))
  return { results, session, problems: events.filter(({ type }) => type === 'results-not-stored') }
}

describe('results that a live session clears', () => {
  test('lie beside it, as they were', async () => {
    const path = join(folder, 'kept.jsonl')
    expect(await cleared(path)).toMatchObject({ results: [3], problems: [] })
    const place = join(folder, 'kept', 'tool-results')
    expect(readdirSync(place).toSorted()).toEqual(['t0.txt', 't1.txt', 't2.txt'])
    expect(readFileSync(join(place, 't1.txt'), 'utf8')).toBe(textOf(1))
  })

  test('are cleared all the same where they cannot be put there, which is told', async () => {
    const path = join(folder, 'barred.jsonl')
    mkdirSync(join(folder, 'barred'))
    writeFileSync(join(folder, 'barred', 'tool-results'), 'in the way')
    const { results, problems, session } = await cleared(path)
    expect(results).toEqual([3])
    expect(problems).toEqual([
      { type: 'results-not-stored', reason: expect.stringContaining('tool-results'), sessionId: session.id },
    ])
  })

  test('of a session in memory lie nowhere', async () => {
    expect(await cleared()).toMatchObject({ results: [3], problems: [] })
  })
})
