// The acceptance of the whole agent: real tools on a real folder, sub-agents, an MCP server and a skill, in a small window.
import { expect, test } from 'vitest'
import { type LongRunReport, longRun, longRunWindow } from '../testing/long-run.ts'

const turns = 300

/** Every bug fixed, every request valid and inside the window, every rule word for word at the end. */
function expectGoodEnd({
  turns: done,
  largest,
  compactions,
  cost,
  calls,
  faults: _,
  errors: __,
  ...rest
}: LongRunReport) {
  expect(rest).toEqual({ tasks: rest.tasks, failing: [], lost: [], invalid: [], endings: [] })
  expect(rest.tasks).toBeGreaterThanOrEqual(20)
  expect(done).toBeGreaterThanOrEqual(turns)
  expect(largest).toBeLessThanOrEqual(longRunWindow)
  expect(compactions).toBeGreaterThan(5)
  expect(cost).toBeGreaterThan(0)
  expect(Object.keys(calls)).toEqual(expect.arrayContaining(['Edit', 'Bash', 'Task', 'Skill', 'McpCall']))
}

test('300 turns of coding in a window of 40,000 tokens: the bugs are fixed and no rule is lost', async () => {
  expectGoodEnd(await longRun({ turns }))
}, 300_000)

test('the same with faults on one request in twenty', async () => {
  const report = await longRun({ turns, hasFaults: true })
  expectGoodEnd(report)
  expect(report.faults).toBeGreaterThan(0.03 * turns)
}, 300_000)
