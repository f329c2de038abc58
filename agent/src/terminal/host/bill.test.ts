import { expect, test } from 'vitest'
import type { Agent } from '../../app.ts'
import { createBill } from './bill.ts'

function setBill(costs: () => readonly (number | undefined)[]) {
  const spent = () => Object.fromEntries(costs().map((cost, at) => [`purpose ${at}`, { cost }]))
  return createBill({ session: () => ({ spent }) } as unknown as Agent)
}

test('a turn costs what the session and its sub-agents spent since it began', () => {
  let cost = 1
  const bill = setBill(() => [cost, 0.5])
  bill.begin()
  cost = 1.25
  bill.note('a', 0.1)
  bill.note('a', 0.2)
  bill.note('b', 0.05)
  expect(bill.end().cost).toBeCloseTo(0.5, 10)
  // The next turn starts from there.
  bill.begin()
  bill.note('a', 0.3)
  expect(bill.end().cost).toBeCloseTo(0.1, 10)
})

test('an unknown price makes the price of the turn unknown', () => {
  let cost: number | undefined = 1
  const bill = setBill(() => [cost])
  bill.begin()
  cost = undefined
  expect(bill.end()).toEqual({ tookMs: expect.any(Number) })
  cost = 2
  bill.begin()
  bill.note('a', undefined)
  expect(bill.end()).toEqual({ tookMs: expect.any(Number) })
})
