// The page of `everlong view` shows the numbers that the other commands print, for the same session.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { AgentLane, CompactionData, LostData, Overview, SessionData, WindowData } from '@everlong/viewer/data'
import { offline } from 'everlong'
import { generateCodexRollout, generatePiSession, generateSession } from 'everlong/internal/testing'
import { createEngine } from 'everlong/node'
import { afterAll, describe, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../testing/harness.ts'
import { sampleSession } from '../testing/sample-session.ts'
import type { CompactReport } from './compact/report.ts'
import type { ContextReport } from './context/report.ts'
import type { EpochsReport } from './inspect/epochs.ts'
import type { StatsReport } from './inspect/stats.ts'
import type { LostReport } from './lost/report.ts'

const folder = sessionFolder()
afterAll(folder.remove)
const env = { HOME: folder.path, EVERLONG_CACHE_DIR: join(folder.path, 'cache') }

type Ask = <T>(path: string, method?: 'GET' | 'POST') => Promise<T>

/** Asks a running `everlong view` and stops it. */
async function viewing(path: string, ask: (get: Ask) => Promise<void>) {
  return everlong(['view', path, '--no-open'], {
    env,
    meanwhile: async (stdout) => {
      const [, origin = '', token = ''] = /^Open (http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)$/m.exec(stdout) ?? []
      await ask(async (path, method = 'GET') => {
        const answer = await fetch(`${origin}${path}`, { method, headers: { authorization: `Bearer ${token}` } })
        if (!answer.ok) throw new Error(await answer.text())
        return (await answer.json()) as never
      })
    },
  })
}

const real = process.env.EVERLONG_DATA ?? join(import.meta.dirname, '../../../../shared/data')
const transcripts = join(real, 'transcripts')
const isSession = (name: string) => name.endsWith('.jsonl') && !basename(name).startsWith('agent-')
const realFiles = existsSync(transcripts)
  ? readdirSync(transcripts, { recursive: true, encoding: 'utf8' }).filter(isSession)
  : []

const made: readonly (readonly [name: string, path: string])[] = [
  ['the sample', folder.write('sample.jsonl', sampleSession())],
  [
    'two compactions',
    folder.write('two.jsonl', [...generateSession({ seed: 2, turns: 40, boundaries: 2, kept: 'after' })]),
  ],
  [
    'cleared results',
    folder.write('micro.jsonl', [...generateSession({ seed: 4, turns: 30, boundaries: 1, microcompact: true })]),
  ],
  ['Codex', folder.write('codex.jsonl', generateCodexRollout({ seed: 3, turns: 12 }).records)],
  ['pi', folder.write('pi.jsonl', generatePiSession({ seed: 3, turns: 12 }).records)],
]

test.for([...made, ...realFiles.map((name) => [name, join(transcripts, name)] as const)])(
  'the numbers of %s are those of inspect, context, lost and compact',
  { timeout: 180_000 },
  async ([, path]) => {
    const context = await report<ContextReport>('context', path)
    const stats = await report<StatsReport>('inspect', '--stats', path)
    const epochs = await report<EpochsReport>('inspect', '--epochs', path)
    const lost = await report<LostReport>('lost', path)
    const ran = await viewing(path, async (get) => {
      const [row] = (await get<Overview>('/api/overview')).sessions
      const session = await get<SessionData>(`/api/sessions/${row?.id}`)
      expect(session.gauge).toMatchObject({
        size: context.size,
        percentLeft: context.percentLeft,
        window: context.marks.contextWindow.value,
      })
      expect(session.row.facts?.cost).toBeCloseTo(stats.cost.dollars, 10)
      expect(session.row.facts?.models.map(({ model, answers, tokens }) => ({ model, answers, ...tokens }))).toEqual(
        stats.models.map(({ model, answers, tokens: { input, output, cacheRead, cacheWrite } }) => ({
          ...{ model, answers, input, output, cacheRead, cacheWrite },
        })),
      )
      expect(session.row.facts?.messages).toBe(epochs.epochs.reduce((sum, { messages }) => sum + messages, 0))
      const boundaries = epochs.epochs.flatMap(({ openedBy }) => openedBy ?? [])
      expect(session.compactions.map((one) => [one.tokensBefore, one.tokensAfter])).toEqual(
        boundaries.map(({ tokensBefore, tokensAfter }) => [tokensBefore ?? null, tokensAfter ?? null]),
      )
      const facts = (await get<LostData>(`/api/sessions/${row?.id}/lost`)).facts
      expect(facts.map(({ text, line }) => [text, line])).toEqual(
        (lost.sessions[0]?.facts ?? []).map(({ text, line }) => [text, line]),
      )
      const { totals } = await get<WindowData>(`/api/sessions/${row?.id}/window`)
      // Right after a compaction, no answer has reported a size yet.
      if (context.size.reported > 0) expect(totals.at(-1)).toBe(context.size.reported)
      let asking = 0
      for (const { number } of session.compactions) {
        const { price, gone } = await get<CompactionData>(`/api/sessions/${row?.id}/compactions/${number}`)
        asking += price.asking ?? 0
        // What is lost now was gone right after the compaction that lost it.
        const lostHere = facts.filter((fact) => fact.compaction === number).map(({ text }) => text)
        expect(gone.filter(({ isSettled }) => !isSettled).map(({ text }) => text)).toEqual(
          expect.arrayContaining(lostHere),
        )
      }
      if (stats.compactionCost.recorded.compactions === 0)
        expect(asking).toBeCloseTo(stats.compactionCost.estimated.dollars, 8)
      for (const lane of await get<readonly AgentLane[]>(`/api/sessions/${row?.id}/agents`)) {
        if (lane.session === null) continue
        const own = await get<SessionData>(`/api/sessions/${lane.session}`)
        const { cost } = await report<StatsReport>('inspect', '--stats', own.row.path)
        // A compaction's own run is counted apart on the command line.
        if (lane.kind === 'agent') expect(lane.cost ?? 0).toBeCloseTo(cost.dollars, 8)
      }
    })
    expect([ran.exitCode, ran.stderr.replace(/^Building the page.*\n/, '')]).toEqual([0, ''])
  },
)

describe('a compaction', () => {
  test('what Everlong would have left has the size that compact says', { timeout: 180_000 }, async () => {
    const [, path = ''] = made[1] ?? []
    await viewing(path, async (get) => {
      const [row] = (await get<Overview>('/api/overview')).sessions
      const { row: compaction } = await get<CompactionData>(`/api/sessions/${row?.id}/compactions/2`)
      const alternative = await get(`/api/sessions/${row?.id}/compactions/2/alternative`)
      const { size } = await report<CompactReport>('compact', path, '--before', compaction.uuid)
      expect(alternative).toMatchObject({ tokensBefore: size.before, tokensAfter: size.after })
    })
  })
})

describe('undo', () => {
  test('on the page is what `everlong undo` does, and can be taken back', { timeout: 60_000 }, async () => {
    const path = join(folder.path, 'own.jsonl')
    const open = await createEngine({ model: offline() }).start({ path })
    for (let turn = 1; turn <= 8; turn++) {
      open.add({ role: 'user', content: `Step ${turn}. ${'More words about it. '.repeat(80)}` })
      open.add({ role: 'assistant', content: `Done. ${'This is what I found. '.repeat(200)}` })
    }
    expect(await open.compact()).toMatchObject({ type: 'compacted' })
    await open.close()
    const sizes: number[] = []
    await viewing(path, async (get) => {
      const [row] = (await get<Overview>('/api/overview')).sessions
      for (let round = 0; round < 3; round++) {
        const { compactions, gauge } = await get<SessionData>(`/api/sessions/${row?.id}`)
        sizes.push(gauge?.size.tokens ?? 0)
        expect(compactions[0]?.isUndone).toBe(round === 1)
        if (round < 2) await get(`/api/sessions/${row?.id}/undo?uuid=${compactions[0]?.undo}`, 'POST')
      }
    })
    expect(sizes[1]).toBeGreaterThan(sizes[0] ?? 0)
    expect(sizes[2]).toBe(sizes[0])
  })

  test('of a session that another process writes changes nothing, and says so', { timeout: 60_000 }, async () => {
    const path = join(folder.path, 'held.jsonl')
    const open = await createEngine({ model: offline() }).start({ path })
    for (let turn = 1; turn <= 8; turn++) {
      open.add({ role: 'user', content: `Step ${turn}. ${'More words about it. '.repeat(80)}` })
      open.add({ role: 'assistant', content: `Done. ${'This is what I found. '.repeat(200)}` })
    }
    await open.compact()
    const before = readFileSync(path, 'utf8')
    await viewing(path, async (get) => {
      const [row] = (await get<Overview>('/api/overview')).sessions
      const { compactions } = await get<SessionData>(`/api/sessions/${row?.id}`)
      await expect(get(`/api/sessions/${row?.id}/undo?uuid=${compactions[0]?.undo}`, 'POST')).rejects.toThrow(
        /nothing changed/,
      )
    })
    expect(readFileSync(path, 'utf8')).toBe(before)
    await open.close()
  })
})

describe('--no-content', () => {
  test('writes a page with numbers only', { timeout: 60_000 }, async () => {
    const [, path = ''] = made[0] ?? []
    const out = join(folder.path, 'numbers.html')
    expect((await everlong(['view', path, '--out', out, '--no-content'], { env })).exitCode).toBe(0)
    const [, data = ''] = /id="data">(.*)<\/script>/.exec(readFileSync(out, 'utf8')) ?? []
    expect(
      JSON.parse(data)
        .items.flatMap(({ blocks }: { blocks: { text: string }[] }) => blocks.map(({ text }) => text))
        .join(''),
    ).toBe('')
    expect(data).not.toContain(folder.path)
  })
})

describe('--out', () => {
  const [, path = ''] = made[0] ?? []
  const out = join(folder.path, 'session.html')
  const write = (...words: readonly string[]) => everlong(['view', ...words], { env })

  test('writes one session with the comment, for its owner only, and never over another file', {
    timeout: 60_000,
  }, async () => {
    const { exitCode, stdout } = await write(path, '--out', out, '--comment', 'Look <b>here</b>.')
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`Wrote ${out}`)])
    const html = readFileSync(out, 'utf8')
    expect(html).toContain('Look \\u003cb>here\\u003c/b>.')
    expect(statSync(out).mode & 0o777).toBe(0o600)
    const again = await write(path, '--out', out)
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('exists and is not overwritten')])
    expect(readFileSync(out, 'utf8')).toBe(html)
  })

  test('refuses several sessions, and a folder that is not there', async () => {
    const several = await write(folder.path, '--out', join(folder.path, 'other.html'))
    expect([several.exitCode, several.stderr]).toEqual([1, 'everlong: --out writes one session. Name its file.\n'])
    const nowhere = await write(path, '--out', join(folder.path, 'nowhere', 'x.html'))
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([1, expect.stringContaining('does not exist')])
    expect(existsSync(join(folder.path, 'other.html'))).toBe(false)
  })
})

describe('what cannot be shown', () => {
  test('a path that is not there', async () => {
    expect(await everlong(['view', 'nowhere.jsonl', '--no-open'], { env })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('nowhere.jsonl does not exist'),
    })
  })

  test('a machine without sessions', async () => {
    const { exitCode, stderr } = await everlong(['view', '--no-open'], { env: { HOME: join(folder.path, 'empty') } })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Name a file or folder: everlong view PATH')])
  })

  test('a port that is no port', async () => {
    expect((await everlong(['view', '--port', '70000', '--no-open'], { env })).exitCode).toBe(2)
  })
})
