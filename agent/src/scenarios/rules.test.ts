import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from '@everlong/simulator'
import { textOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import { prose } from '../testing/history.ts'
import { setStage } from '../testing/stage.ts'

const rule = (nth: number) => `Never rename the export number${nth} of src/tables.ts.`

test('more rules than the page for rules holds: what is left out is counted, and recall brings it word for word', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-rules-'))
  const stage = await setStage({
    window: 40_000,
    script: () => text('Noted.'),
    engine: { settings: { maxOutputTokens: 4_000 } },
  })
  const session = await stage.engine.start({ path: join(folder, 'session.jsonl'), maxTokens: 1_000 })
  const all = 320
  for (let nth = 1; nth <= all; nth++) {
    session.add({ role: 'user', content: `${rule(nth)} ${prose(150, nth)}.` })
    session.add({ role: 'assistant', content: 'Noted.' })
    if (nth % 80 === 0) expect(await session.compact()).toMatchObject({ type: 'compacted' })
  }
  const context = session
    .messages()
    .map(({ content }) => textOf(content))
    .join('\n')
  const { shown = [], gone = [] } = Object.groupBy(
    Array.from({ length: all }, (_, at) => at + 1),
    (nth) => (context.includes(rule(nth)) ? 'shown' : 'gone'),
  )
  const told = Number(/\((\d+) older rules are not listed/.exec(context)?.[1])
  expect(shown).toContain(all)
  expect(gone.length).toBeGreaterThan(50)
  expect(told).toBeGreaterThanOrEqual(gone.length)
  expect(told).toBeLessThan(all)
  for (const nth of [gone.at(0), gone.at(-1)].map(Number)) {
    const { matches } = await session.recall(`rename number${nth}`)
    expect(matches.some(({ snippet }) => snippet.replaceAll('**', '').includes(rule(nth)))).toBe(true)
  }
  await session.close()
  rmSync(folder, { recursive: true, force: true })
})
