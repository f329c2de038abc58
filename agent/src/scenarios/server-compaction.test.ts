import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { summarizer, text } from '@everlong/simulator'
import type { Block } from 'everlong'
import { blocksOf, textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fill } from '../testing/history.ts'
import { type Stage, setStage } from '../testing/stage.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-served-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const name = 'claude-opus-5'
const beta = 'compact-2026-09-04'

function stageFor(): Promise<Stage> {
  return setStage({
    model: name,
    window: 400_000,
    script: () => text('Here you are.'),
    simulator: { summarizer: summarizer({ lastTextAsks: true }) },
    // Results that the session clears itself would leave nothing to summarize.
    engine: {
      settings: {
        sessionMemory: false,
        reductions: { microCompact: false },
        summary: { serverCompaction: 'on-demand' },
      },
    },
  })
}

/** The block that the API gave back for the newest compaction, as it came. */
function givenIn({ sent }: Stage): Block | undefined {
  const answers = sent.flatMap(({ result }) => (result.type === 'answer' ? result.content : []))
  return answers.findLast(({ type }) => type === 'compaction')
}

async function turn(stage: Stage, session: Session, content: string) {
  session.add({ role: 'user', content })
  const { type } = await session.send()
  const { request } = stage.sent.at(-1) ?? {}
  return { type, request, first: request?.messages[0], opening: textOf(request?.messages[1]?.content) }
}

async function compacted(stage: Stage, path: string): Promise<Session> {
  const session = await stage.engine.start({ path, maxTokens: 1_000 })
  fill(session, { rounds: 8, tokens: 6_000 })
  session.add({ role: 'user', content: 'Sort the parcels by weight. Never drop one.' })
  await session.send()
  const done = await session.compact()
  expect(done).toMatchObject({ type: 'compacted', mechanism: 'server-compaction' })
  return session
}

test('the block that the provider wrote is sent back as it came, first, with its beta, and what code knows beside it', async () => {
  const stage = await stageFor()
  const path = join(folder, 'session.jsonl')
  const session = await compacted(stage, path)
  const block = givenIn(stage)
  expect(block).toMatchObject({ type: 'compaction', signature: expect.any(String) })

  const next = await turn(stage, session, 'And now the tests.')
  expect(next.type).toBe('answered')
  expect(JSON.stringify(next.first)).toBe(JSON.stringify({ role: 'assistant', content: [block] }))
  expect(next.request?.betas).toContain(beta)
  expect(next.opening).toContain('Never drop one.')
  const rule = 'Question 1: what does src/file-0.ts do? Never change it.'
  expect(`${String(block?.content)}\n${next.opening}`).toContain(rule)
  await session.close()

  const again = await stage.engine.open(path, { maxTokens: 1_000 })
  const later = await turn(stage, again, 'Go on.')
  expect(later.type).toBe('answered')
  expect(JSON.stringify(later.first)).toBe(JSON.stringify({ role: 'assistant', content: [block] }))
  await again.close()
})

test('another model reads the summary as text', async () => {
  const stage = await stageFor()
  const session = await compacted(stage, join(folder, 'session.jsonl'))
  await session.useModel({ name: 'claude-haiku-4-5', client: stage.model })
  const next = await turn(stage, session, 'And now the tests.')
  expect(next.type).toBe('answered')
  const blocks = next.request?.messages.flatMap(({ content }) => blocksOf(content)) ?? []
  expect(blocks.filter(({ type }) => type === 'compaction')).toEqual([])
  expect([next.first?.role, next.request?.betas ?? []]).toEqual(['user', []])
  expect(textOf(next.first?.content)).toMatch(/1\. Primary request and intent/)
  // And back: the block again.
  await session.useModel({ name, client: stage.model })
  const back = await turn(stage, session, 'Go on.')
  expect([back.type, blocksOf(back.first?.content)]).toEqual(['answered', [givenIn(stage)]])
  await session.close()
})

test('a block that was changed on the way is refused by the API', async () => {
  const stage = await stageFor()
  const session = await compacted(stage, join(folder, 'session.jsonl'))
  const { request } = await turn(stage, session, 'And now the tests.')
  const block = givenIn(stage)
  if (!request || !block) throw new Error('Nothing was sent.')
  const changed = { ...block, content: `${String(block.content)} And more.` }
  const messages = [{ role: 'assistant', content: [changed] } as const, ...request.messages.slice(1)]
  expect(await stage.model.send({ ...request, messages })).toMatchObject({ code: 'compaction_content_mismatch' })
  await session.close()
})

test('the next compaction continues from the block, and its own takes its place', async () => {
  const stage = await stageFor()
  const session = await compacted(stage, join(folder, 'session.jsonl'))
  const first = givenIn(stage)
  fill(session, { rounds: 8, tokens: 6_000, from: 20 })
  await turn(stage, session, 'Then the labels.')
  expect(await session.compact()).toMatchObject({ type: 'compacted', mechanism: 'server-compaction' })
  const second = givenIn(stage)
  expect(second).not.toEqual(first)
  const next = await turn(stage, session, 'Go on.')
  expect([next.type, blocksOf(next.first?.content)]).toEqual(['answered', [second]])
  expect(`${String(second?.content)}\n${next.opening}`).toContain('Never drop one.')
  await session.close()
})
