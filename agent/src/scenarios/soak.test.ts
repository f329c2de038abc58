import { expect, test } from 'vitest'
import { type SoakReport, soak, soakFaults, soakWindow } from '../testing/soak.ts'

const turns = 300

/** Every request valid and inside the window, no loop ended before its time, every rule word for word at the end. */
function expectGoodEnd({ largest, compactions, faults: _, ...rest }: SoakReport, minCompactions: number): void {
  // How many tasks fit into the turns is the agent's doing; each brings a rule, and none of them may be lost.
  const { tasks } = rest
  expect(tasks).toBeGreaterThan(20)
  expect(rest).toEqual({ turns: expect.any(Number), tasks, rules: tasks, endings: [], lost: [], invalid: [] })
  expect(rest.turns).toBeGreaterThanOrEqual(turns)
  expect(compactions).toBeGreaterThanOrEqual(minCompactions)
  expect(largest).toBeLessThanOrEqual(soakWindow)
}

test('300 turns in a window of 24,000: every request valid and inside it, every rule word for word at the end', {
  timeout: 90_000,
}, async () => {
  expectGoodEnd(await soak({ turns, engine: { settings: { economy: 'claude-code' } } }), 6)
})

test('the same end with faults on one request in twenty', { timeout: 90_000 }, async () => {
  const report = await soak({ turns, faults: soakFaults })
  // With results of finished turns cleared, fewer are needed.
  expectGoodEnd(report, 4)
  expect(report.faults).toBeGreaterThan(0.03 * turns)
})
