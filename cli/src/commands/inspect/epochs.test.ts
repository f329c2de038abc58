import { join } from 'node:path'
import { offline } from 'everlong'
import { generateWithTruth } from 'everlong/internal/testing'
import { createEngine } from 'everlong/node'
import { afterAll, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../../testing/harness.ts'
import type { EpochsReport } from './epochs.ts'

const folder = sessionFolder()
afterAll(folder.remove)

test('each epoch is told as its maker knows it', async () => {
  const { records, truth } = generateWithTruth({ seed: 11, kept: 'before', turns: 9, boundaries: 3 })
  const { epochs } = await report<EpochsReport>('epochs', folder.write('s.jsonl', records))
  const told = epochs.map(({ number, entries, openedBy }) => ({
    number,
    entries,
    openedBy: openedBy && {
      uuid: openedBy.uuid,
      trigger: openedBy.trigger,
      tokensBefore: openedBy.tokensBefore,
      tokensAfter: openedBy.tokensAfter,
      kept: openedBy.kept,
      summary: openedBy.summary?.uuid,
    },
  }))
  expect(told).toEqual(
    truth.epochs.map(({ entries, boundary }, number) => ({
      number,
      entries,
      openedBy: boundary
        ? {
            uuid: boundary.uuid,
            trigger: boundary.trigger,
            tokensBefore: boundary.preTokens,
            tokensAfter: boundary.postTokens,
            kept: boundary.kept.length,
            summary: boundary.summaryUuid,
          }
        : null,
    })),
  )
})

test('the fields of an epoch are the documented ones', async () => {
  const { records } = generateWithTruth({ seed: 12, turns: 4, boundaries: 1 })
  const { epochs } = await report<EpochsReport>('epochs', folder.write('t.jsonl', records))
  const fields = [
    'number',
    'openedBy',
    'entries',
    'messages',
    'humanTurns',
    'roots',
    'orphans',
    'from',
    'to',
    'tokensAtEnd',
  ]
  expect(epochs.map((epoch) => Object.keys(epoch))).toEqual([fields, fields])
  expect(Object.keys(Object(epochs[1]?.openedBy))).toEqual([
    'uuid',
    'line',
    'trigger',
    'tokensBefore',
    'tokensAfter',
    'durationMs',
    'time',
    'kept',
    'summary',
  ])
})

test('a compaction that was taken back is said to be', async () => {
  const path = join(folder.path, 'undone.jsonl')
  const session = await createEngine({ model: offline(), environment: {} }).start({ path })
  for (let nth = 1; nth <= 8; nth++) {
    session.add({ role: 'user', content: `Question ${nth}: ${'lorem ipsum '.repeat(800)}` })
    session.add({ role: 'assistant', content: `Answer ${nth}.` })
    if (nth % 4 === 0) expect(await session.compact()).toMatchObject({ type: 'compacted' })
  }
  const inForce = async () =>
    (await report<EpochsReport>('epochs', path)).epochs.flatMap(({ openedBy }) =>
      openedBy ? [!openedBy.isUndone] : [],
    )
  expect(await inForce()).toEqual([true, true])
  await session.undo()
  await session.close()
  expect(await inForce()).toEqual([true, false])
  const { stdout } = await everlong(['epochs', path])
  expect(stdout).toContain('3 epochs, 2 compactions, 1 of them undone')
  expect(stdout).toContain('manual, undone')
})
