import { expect, test } from 'vitest'
import type { Mechanism, MechanismContext } from '../mechanisms/mechanism.ts'
import { noTokens } from '../message/usage.ts'
import { failed, type Outcome, type Success } from '../ports/outcome.ts'
import { type TryOptions, tryMechanisms } from './mechanisms.ts'

/** Tries mechanisms with these outcomes, and returns which of them ran. */
async function trying(
  results: readonly Outcome[],
  { apply = (found: Success) => found, isAborted = false }: Given = {},
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
  return { ran, ended: await tryMechanisms(mechanisms, { context, apply }) }
}
type Given = Partial<Pick<TryOptions, 'apply'>> & { readonly isAborted?: boolean }

const declined: Outcome = { type: 'declined', reason: 'not-now', why: 'nothing to do' }
const reduced = (freed: number): Outcome => ({ type: 'reduced', edits: [], freed })

test('the first outcome that can be applied ends the list', async () => {
  const { ran, ended } = await trying([declined, failed('api-error', 'no'), reduced(10), reduced(20)])
  expect(ran).toEqual([0, 1, 2])
  expect(ended).toMatchObject(reduced(10))
  expect(ended.tried.map(({ outcome }) => outcome)).toEqual(['declined', 'failed', 'done'])
})

test('an outcome that is not good enough counts as failed, and the next mechanism is tried', async () => {
  const apply = (found: Success) =>
    found.type === 'reduced' && found.freed < 15 ? failed('no-progress', 'too little') : found
  const { ended } = await trying([reduced(10), reduced(20)], { apply })
  expect(ended).toMatchObject(reduced(20))
  expect(ended.tried[0]).toEqual({
    mechanism: 'mechanism 0',
    outcome: 'failed',
    reason: 'no-progress',
    why: 'too little',
  })
  expect((await trying([reduced(10)], { apply })).ended).toMatchObject({ type: 'failed', reason: 'no-progress' })
})

test.each(['vetoed', 'aborted'] as const)('what a person %s is not tried by other means', async (reason) => {
  const { ran, ended } = await trying([failed(reason, 'no'), reduced(20)])
  expect([ran, ended]).toMatchObject([[0], { type: 'failed', reason }])
})

test('nothing is tried for somebody who has stopped it', async () => {
  const { ran, ended } = await trying([reduced(20)], { isAborted: true })
  expect([ran, ended]).toMatchObject([[], { type: 'failed', tried: [], reason: 'aborted', usage: noTokens }])
})

test('what all mechanisms spent is added up, and a cost that is not known stays unknown', async () => {
  const paid = (input: number, cost?: number): Outcome =>
    failed('api-error', 'no', {
      usage: { ...noTokens, input },
      attempts: 1,
      ...(cost === undefined ? {} : { cost }),
    })
  const spentOn = async (...results: readonly Outcome[]) => {
    const { usage, attempts, cost } = (await trying(results)).ended
    return { usage, attempts, ...(cost === undefined ? {} : { cost }) }
  }
  expect(await spentOn(paid(10, 0.5), declined, paid(5, 0.25))).toEqual({
    usage: { ...noTokens, input: 15 },
    attempts: 2,
    cost: 0.75,
  })
  const unknown = { usage: { ...noTokens, input: 15 }, attempts: 2 }
  expect(await spentOn(paid(10, 0.5), paid(5))).toEqual(unknown)
  expect(await spentOn(paid(10), paid(5, 0.25))).toEqual(unknown)
  // A request that was refused before it was read costs nothing.
  expect(await spentOn(paid(0), paid(5, 0.25), paid(0))).toMatchObject({ attempts: 3, cost: 0.25 })
})

test('a failure counts for more than a mechanism that declined after it', async () => {
  const { ended } = await trying([failed('api-error', 'The network is down.'), declined])
  expect(ended).toMatchObject({ type: 'failed', reason: 'api-error', why: 'The network is down.' })
  expect((await trying([declined])).ended).toMatchObject({ type: 'declined', reason: 'not-now' })
  expect((await trying([])).ended).toMatchObject({ type: 'failed', reason: 'nothing-to-compact' })
})
