import type { ModelClient } from 'everlong'
import { blocksOf, type JsonObject, objectAt, repairRequest, textOf } from 'everlong/internal'
import { generateWithTruth, random, session } from 'everlong/internal/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSimulator } from '../simulator.ts'
import { summarizer } from '../summary/summarizer.ts'
import { ask } from '../testing/ask.ts'
import { bodyOf, simulatedClient } from '../testing/client.ts'
import { type Bench, bench, brokenBy, conversation, done, ownRequest } from '../testing/compaction.ts'

const model = 'claude-sonnet-4-5'
const simulator = () => createSimulator({ script: summarizer(), acceptForeignSignatures: true })
const offline = (): ModelClient => simulatedClient(simulator(), { provider: 'offline' })

/** The next stretch of work, hung on the newest entry. */
function goOn(table: Bench, seed: number, human: readonly string[]): void {
  const { records } = generateWithTruth({ seed, turns: human.length, boundaries: 0, human })
  const tip = table.records.findLast(({ uuid, isSidechain }) => typeof uuid === 'string' && isSidechain !== true)?.uuid
  const first = records.findIndex(({ uuid, parentUuid }) => uuid !== undefined && parentUuid === null)
  table.add(records.map((record, at): JsonObject => (at === first ? { ...record, parentUuid: tip } : record)))
}

const contextText = (table: Bench) =>
  table
    .view()
    .messages.map(({ content }) => textOf(content))
    .join('\n')

test('two in a row: the second continues from the first, and without a human message between it is a recompaction', async () => {
  const table = conversation(11, { targetBytes: 150_000 })
  const first = done(await table.compact(offline(), { turnId: 'one', trigger: 'auto', threshold: 60_000 }))
  expect(first.chain).toEqual({ isRecompaction: false, threshold: 60_000, source: 'turn' })
  goOn(table, 12, ['carry on with the parcel desk'])
  const second = done(await table.compact(offline(), { turnId: 'two', trigger: 'auto', threshold: 60_000 }))
  expect(second.chain).toEqual({
    isRecompaction: false,
    turnsSincePrevious: 4,
    previousTurnId: 'one',
    threshold: 60_000,
    source: 'turn',
  })
  expect(brokenBy(table, second)).toEqual([])
  expect(second.records[0]).toMatchObject({
    compactMetadata: {
      cumulativeDroppedTokens: first.before - first.after + second.before - second.after,
    },
  })
  const asked = first.ledger.exchanges.map(({ text }) => text.split('\n')[0]?.slice(0, 60) ?? '')
  expect(asked.length).toBeGreaterThan(1)
  for (const words of asked) expect(second.summary).toContain(words)
  const third = await table.compact(offline(), { budget: Math.floor(second.tokens.after * 0.8) })
  expect(third).toMatchObject({ type: 'failed', reason: 'nothing-to-compact' })
  const tip = table.records.at(-1)?.uuid
  const work = session({ ids: (name) => `later-${name}` }).from(String(tip))
  for (const at of [1, 2, 3])
    work.toolUse(`w${at}`, 'Bash', { command: 'npm test' }).toolResult(`w${at}`, 'ok '.repeat(900))
  table.add(work.records)
  const fourth = done(await table.compact(offline(), { trigger: 'auto', threshold: 60_000 }))
  expect(fourth.chain).toMatchObject({ isRecompaction: true, turnsSincePrevious: 3, previousTurnId: 'two' })
})

test('sixteen in a row: every rule the person gave is still there word for word, and the handover keeps its size', {
  timeout: 90_000,
}, async () => {
  const rules = [
    'Never push to the branch release/7 without asking me first.',
    'Always run npm run verify:ledger before you say that it works.',
    'You must not touch migrations/0042_parcels.sql.',
    "Don't use the word customer in log lines, we say recipient.",
  ]
  for (const client of [offline(), simulatedClient(simulator())]) {
    const first = generateWithTruth({ seed: 21, turns: 5, boundaries: 0, human: [...rules, 'Now sort the parcels.'] })
    const table = bench(first.records)
    const sizes: number[] = []
    for (let round = 1; round <= 16; round++) {
      const result = done(await table.compact(client, { counting: { model } }))
      expect(brokenBy(table, result)).toEqual([])
      // What the scripted model writes is its own affair.
      sizes.push(result.tokens.after - result.composition.model)
      for (const rule of rules) expect(contextText(table)).toContain(rule)
      if (round < 16)
        goOn(table, 21 + round, [`Round ${round}: look into the invoices of depot ${round}.`, 'And then?'])
    }
    // The record of earlier rounds stays as it was written until the size of the handover forces it out.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(12_000)
  }
})

// pi#2608: the messages that the first compaction kept were in neither the summary nor the kept part of the second.
test('what one compaction kept is summarized or kept by the next, never lost', async () => {
  const table = conversation(31, { targetBytes: 100_000 })
  const uuids = table.view().sources.flatMap((source) => source.uuids)
  const first = done(await table.compact(offline(), { partial: { type: 'up-to', uuid: uuids.at(-12) ?? '' } }))
  goOn(table, 32, ['go on'])
  const shown = table.view().sources.flatMap((source) => source.uuids)
  for (const uuid of first.keptUuids) expect(shown).toContain(uuid)
  const client = simulatedClient(simulator())
  done(await table.compact(client))
  const asked = JSON.stringify(client.requests[0]?.messages)
  for (const uuid of first.keptUuids) {
    const record = table.fold.entry(uuid)?.record
    for (const block of blocksOf(objectAt(record, 'message')?.content)) {
      if (block.type === 'tool_use') expect(asked).toContain(String(block.id))
    }
  }
})

// Roo: the fall-back after a failed summary removed messages that a compaction had hidden already, and freed nothing.
test('without a model the second compaction frees as much as with one', async () => {
  const table = conversation(41, { targetBytes: 150_000 })
  done(await table.compact(offline()))
  goOn(table, 42, ['one', 'two', 'three', 'four', 'five', 'six'])
  const result = done(await table.compact(offline(), { budget: 4_000 }))
  expect(result.tokens.after).toBeLessThanOrEqual(4_000)
})

test('after any compaction of any conversation the request is accepted, small, and says what was wanted', async () => {
  const service = simulator()
  const client = simulatedClient(service)
  await fc.assert(
    fc.asyncProperty(fc.nat(10_000), fc.boolean(), async (seed, hasModel) => {
      const dice = random(seed)
      const table = conversation(seed, {
        targetBytes: dice.int(40_000, 160_000),
        images: dice.chance(0.3),
        interrupted: 0.3,
        parallel: 0.4,
      })
      const before = table.view()
      const human = before.sources.flatMap(({ pieces }) => pieces).filter(({ origin }) => origin === 'human')
      const threshold = 30_000
      const choices = { trigger: 'auto', threshold, counting: { model } } as const
      const result = done(await table.compact(hasModel ? client : offline(), choices))
      expect(brokenBy(table, result)).toEqual([])
      expect(result.after).toBeLessThan(threshold * 0.6)
      const messages = repairRequest(table.view().messages).messages
      const request = ownRequest(table.view(), { messages })
      expect((await ask(service, bodyOf(request))).status).toBe(200)
      const context = contextText(table)
      const latest = textOf(human.at(-1)?.content).trim()
      expect(context).toContain(latest)
      for (const message of human) {
        const text = textOf(message.content).trim()
        expect(context.includes(text) || context.includes(message.uuid ?? 'no uuid')).toBe(true)
      }
    }),
    { numRuns: 20 },
  )
})

test('compactions of every kind, one after another, each on what the ones before left', async () => {
  const kinds = fc.constantFrom('full' as const, 'from' as const, 'up-to' as const)
  const step = fc.record({ type: kinds, at: fc.double({ min: 0.1, max: 0.9, noNaN: true }) })
  await fc.assert(
    fc.asyncProperty(fc.nat(5_000), fc.array(step, { minLength: 2, maxLength: 4 }), async (seed, steps) => {
      const table = conversation(seed, { targetBytes: 60_000 })
      for (const [round, { type, at }] of steps.entries()) {
        const uuids = table.view().sources.flatMap((source) => source.uuids)
        const uuid = uuids[Math.floor(at * uuids.length)] ?? ''
        const before = JSON.stringify(table.view().messages)
        const result = await table.compact(offline(), type === 'full' ? {} : { partial: { type, uuid } })
        if (result.type === 'compacted') expect(brokenBy(table, result)).toEqual([])
        else expect(JSON.stringify(table.view().messages)).toBe(before)
        goOn(table, seed + round + 1, [`round ${round}`, 'and on'])
        expect(contextText(table)).toContain(`round ${round}`)
      }
    }),
    { numRuns: 12 },
  )
})
