// State of a client's transcript besides the conversation, restored after a compaction.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textOf } from 'everlong/internal'
import { session as build, type SessionBuilder } from 'everlong/internal/testing'
import type { SessionOptions } from 'everlong/node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fill } from '../testing/history.ts'
import { setSmallStage } from '../testing/stage.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-state-'))
  mkdirSync(join(folder, 'work'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const session = () => build({ cwd: join(folder, 'work') })

/** The context after a compaction of a session that a client has written so far. */
async function compacted(written: SessionBuilder, options: SessionOptions = {}, rounds = 3): Promise<string> {
  const path = join(folder, 'session.jsonl')
  writeFileSync(path, written.text)
  const stage = await setSmallStage({ engine: { settings: { sessionMemory: false } } })
  const opened = await stage.engine.open(path, {
    maxTokens: 1_000,
    envelope: { cwd: join(folder, 'work') },
    ...options,
  })
  fill(opened, { rounds, tokens: 4_500 / rounds })
  expect(await opened.compact()).toMatchObject({ type: 'compacted' })
  const context = opened.messages().map(({ content }) => textOf(content))
  await opened.close()
  await stage.close()
  return context.join('\n')
}

const invoked = (...names: readonly string[]) => ({
  skills: names.map((name) => ({ name, path: `skills/${name}`, content: `How to ${name}.` })),
})

test('all skills come back; the one invoked last counts as recent until the user has spoken three times', async () => {
  const written = () =>
    session()
      .user('Review it.')
      .attachment('invoked_skills', invoked('review'))
      .user('Ship it.')
      .attachment('invoked_skills', invoked('deploy'))
      .user('Review it again.')
      .attachment('invoked_skills', invoked('review'))
  const context = await compacted(written(), {}, 2)
  expect(context).toContain('Skill review, invoked recently (skills/review)\nHow to review.')
  expect(context).toContain('Skill deploy, invoked earlier (skills/deploy)\nHow to deploy.')
  const later = await compacted(written())
  expect(later).toContain('Skill review, invoked earlier (skills/review)\nHow to review.')
})

test('plan mode that was entered again is on, and the plan is the one on disk only where the host names its file', async () => {
  const planFilePath = join(folder, 'work', 'plan.md')
  writeFileSync(planFilePath, 'First the labels, then the parcels.\n')
  const start = () =>
    session()
      .user('Plan it.')
      .attachment('plan_mode', { planFilePath })
      .toolUse('t1', 'ExitPlanMode', { plan: 'An older plan.' })
      .toolResult('t1', 'approved', { toolUseResult: { plan: 'An older plan.', filePath: planFilePath } })
  const off = await compacted(start())
  // The word of a transcript opens no file.
  expect(off).toContain('An older plan.')
  expect(off).not.toContain('First the labels, then the parcels.')
  expect(off).not.toMatch(/plan mode is on/i)
  expect(await compacted(start().attachment('plan_mode_reentry', { planFilePath }))).toMatch(/plan mode is on/i)
  const named = await compacted(start(), { state: () => ({ plan: { path: planFilePath, isOn: false } }) })
  expect(named).toContain('First the labels, then the parcels.')
  expect(named).not.toMatch(/plan mode is on/i)
})
