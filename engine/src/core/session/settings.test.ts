import { expect, test } from 'vitest'
import { headStart, memoryChoices, patience, targetShare } from './settings.ts'

test.each([
  [undefined, 0.6],
  [0.3, 0.3],
  [0, 0.6],
  [1, 0.6],
  [60, 0.6],
  [-0.5, 0.6],
  [Number.NaN, 0.6],
])('a target of %s means %s of the threshold', (target, share) => {
  expect(targetShare(target === undefined ? {} : { target })).toBe(share)
})

test.each([
  [false, undefined],
  [true, 0.8],
  [{ from: 0.5 }, 0.5],
  [{ from: 0 }, 0.8],
  [{ from: 1 }, 0.8],
  [{ from: 70 }, 0.8],
])('background %j begins at %s', (background, share) => {
  expect(headStart({ background })).toBe(share)
})

test('without the setting nothing is prepared in the background', () => {
  expect(headStart({})).toBeUndefined()
})

test.each([
  [undefined, 60_000],
  [0, 0],
  [5_000, 5_000],
  [-1, 60_000],
])('askTimeoutMs %s means %s ms', (askTimeoutMs, expected) => {
  expect(patience(askTimeoutMs === undefined ? {} : { askTimeoutMs })).toBe(expected)
})

test.each([
  [undefined, { isOn: true }],
  [true, { isOn: true }],
  [false, { isOn: false }],
  [{ isOn: false }, { isOn: false }],
])('sessionMemory %j', (sessionMemory, choices) => {
  expect(memoryChoices(sessionMemory === undefined ? {} : { sessionMemory })).toEqual(choices)
})
