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

// The same loop without faults is in soak.test.ts.
test('100 turns of coding in a window of 28,000 tokens, with faults on one request in twenty: the bugs are fixed and no rule is lost', {
  timeout: 180_000,
}, async () => {
  const report = await longRun({ turns: 100, hasFaults: true })
  expectGoodEnd(report, 100)
  expect(report.faults).toBeGreaterThan(0.03 * 100)
})
