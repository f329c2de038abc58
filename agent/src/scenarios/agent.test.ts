// The whole agent: real tools on a real folder, sub-agents, an MCP server and a skill, in a small window.
// `npm run soak:agent` does the same for 2,000 turns.
import { expect, test } from 'vitest'
import { type LongRunReport, longRun, longRunWindow } from '../testing/long-run.ts'

/** Every bug fixed, every request valid and inside the window, every rule word for word at the end. */
function expectGoodEnd(report: LongRunReport, turns: number) {
  const { turns: done, largest, compactions, cost, calls, faults: _, errors: __, ...rest } = report
  expect(rest).toEqual({ tasks: rest.tasks, failing: [], lost: [], invalid: [], endings: [] })
  expect(rest.tasks).toBeGreaterThanOrEqual(turns / 15)
  expect(done).toBeGreaterThanOrEqual(turns)
  expect(largest).toBeLessThanOrEqual(longRunWindow)
  expect(compactions).toBeGreaterThan(turns / 50)
  expect(cost).toBeGreaterThan(0)
  expect(Object.keys(calls)).toEqual(expect.arrayContaining(['Edit', 'Bash', 'Task', 'Skill', 'McpCall']))
}

test('100 turns of coding in a window of 40,000 tokens: the bugs are fixed and no rule is lost', {
  timeout: 120_000,
}, async () => {
  expectGoodEnd(await longRun({ turns: 100 }), 100)
})

test('150 turns with faults on one request in twenty', { timeout: 180_000 }, async () => {
  const report = await longRun({ turns: 150, hasFaults: true })
  expectGoodEnd(report, 150)
  expect(report.faults).toBeGreaterThan(0.03 * 150)
})
