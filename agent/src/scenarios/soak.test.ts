import { expect, test } from 'vitest'
import { soak, soakWindow } from '../testing/soak.ts'

const faults = ['overloaded', 'server-error', 'cut-during', 'error-event', 'truncate'] as const

test('500 turns in a window of 40,000: every request valid and inside it, every rule word for word at the end', async () => {
  const { turns, largest, compactions, ...rest } = await soak({ turns: 500 })
  expect(rest).toEqual({ tasks: expect.any(Number), rules: expect.any(Number), endings: [], lost: [], invalid: [] })
  expect(turns).toBeGreaterThanOrEqual(500)
  expect(compactions).toBeGreaterThan(5)
  expect(largest).toBeLessThanOrEqual(soakWindow)
})

test('the same end with faults on one request in twenty', async () => {
  const rules = faults.map((type) => ({ probability: 0.05 / faults.length, fault: { type } }))
  const { turns, largest, compactions, ...rest } = await soak({ turns: 200, faults: { seed: 9, rules } })
  expect(rest).toEqual({ tasks: expect.any(Number), rules: expect.any(Number), endings: [], lost: [], invalid: [] })
  expect(turns).toBeGreaterThanOrEqual(200)
  expect(compactions).toBeGreaterThan(2)
  expect(largest).toBeLessThanOrEqual(soakWindow)
})
