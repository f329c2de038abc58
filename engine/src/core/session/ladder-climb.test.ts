import { expect, test } from 'vitest'
import type { Mechanism, MechanismContext, MechanismResult } from '../mechanisms/mechanism.ts'
import { noTokens } from '../message/usage.ts'
import { climb } from './ladder.ts'

/** Climbs these mechanisms, and says which were tried. */
async function climbing(
  results: readonly MechanismResult[],
  { judge = () => undefined, isAborted = false }: Given = {},
) {
  const ran: number[] = []
  const mechanisms = results.map(
    (result, nth): Mechanism => ({
      name: `mechanism ${nth}`,
      run: async () => {
        ran.push(nth)
        return result
      },
    }),
  )
  const signal = { aborted: isAborted, addEventListener: () => undefined, removeEventListener: () => undefined }
  const ports = { emit: () => undefined, wait: () => new Promise(() => undefined) }
  const context = { signal, ports } as unknown as MechanismContext
  return { ran, climbed: await climb(mechanisms, context, judge) }
}
type Judge = NonNullable<Parameters<typeof climb>[2]>
type Given = { readonly judge?: Judge; readonly isAborted?: boolean }

const declined: MechanismResult = { type: 'declined', why: 'nothing to do' }
const failed = (reason: 'api_error' | 'vetoed' | 'aborted'): MechanismResult => ({ type: 'failed', reason, why: 'no' })
const reduced = (freed: number): MechanismResult => ({ type: 'reduced', edits: [], freed, results: 1 })

test('the first answer that holds up ends the climb', async () => {
  const { ran, climbed } = await climbing([declined, failed('api_error'), reduced(10), reduced(20)])
  expect(ran).toEqual([0, 1, 2])
  expect(climbed.solution).toEqual(reduced(10))
  expect(climbed.tried.map(({ outcome }) => outcome)).toEqual(['declined', 'failed', 'done'])
})

test('an answer that does not hold up counts as failed, and the next mechanism is tried', async () => {
  const judge: Judge = (solution) => (solution.type === 'reduced' && solution.freed < 15 ? 'too little' : undefined)
  const { climbed } = await climbing([reduced(10), reduced(20)], { judge })
  expect(climbed.solution).toEqual(reduced(20))
  expect(climbed.tried[0]).toEqual({ mechanism: 'mechanism 0', outcome: 'failed', why: 'too little' })
  expect((await climbing([reduced(10)], { judge })).climbed).toMatchObject({ reason: 'no_progress' })
})

test.each(['vetoed', 'aborted'] as const)('what a person %s is not tried by other means', async (reason) => {
  const { ran, climbed } = await climbing([failed(reason), reduced(20)])
  expect([ran, climbed.reason, climbed.solution]).toEqual([[0], reason, undefined])
})

test('nothing is tried for somebody who has stopped it', async () => {
  const { ran, climbed } = await climbing([reduced(20)], { isAborted: true })
  expect([ran, climbed]).toEqual([[], { tried: [], reason: 'aborted', spent: { usage: noTokens } }])
})

test('what all mechanisms spent is added up, and a cost that is not known stays unknown', async () => {
  const paid = (input: number, cost?: number): MechanismResult => ({
    type: 'failed',
    reason: 'api_error',
    why: 'no',
    spent: { usage: { ...noTokens, input }, attempts: 1, ...(cost === undefined ? {} : { cost }) },
  })
  const spentOn = async (...results: readonly MechanismResult[]) => (await climbing(results)).climbed.spent
  expect(await spentOn(paid(10, 0.5), declined, paid(5, 0.25))).toEqual({
    usage: { ...noTokens, input: 15 },
    attempts: 2,
    cost: 0.75,
  })
  const unknown = { usage: { ...noTokens, input: 15 }, attempts: 2 }
  expect(await spentOn(paid(10, 0.5), paid(5))).toEqual(unknown)
  expect(await spentOn(paid(10), paid(5, 0.25))).toEqual(unknown)
  // A request that was refused before anything was read costs nothing.
  expect(await spentOn(paid(0), paid(5, 0.25), paid(0))).toMatchObject({ attempts: 3, cost: 0.25 })
})
