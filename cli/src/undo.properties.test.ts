import { foldEntries } from 'everlong/internal'
import { readTranscript } from 'everlong/internal/node'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LivedSession, type Step, stepKinds, type World } from './testing/any-session.ts'

const anyStep = fc.record({ kind: fc.constantFrom(...stepKinds), at: fc.nat(1_000), to: fc.nat(1_000) })
const anyWorld: fc.Arbitrary<World> = fc.record({
  thinks: fc.boolean(),
  collapse: fc.constantFrom(false, false, true),
  server: fc.constantFrom('offline', 'plain', 'cache-edits', 'cache-edits', 'context-management'),
  length: fc.constantFrom(200, 2_000, 8_000, 16_000, 60_000),
  turns: fc.nat(5),
})

/** The view without any edits: all messages in order. */
function unedited(lived: LivedSession) {
  let parentUuid: unknown = null
  const said = lived.records().filter(({ uuid }) => typeof uuid === 'string' && lived.said.has(uuid))
  const entries = said.map((record) => {
    const entry = { record: { ...record, parentUuid }, position: { line: 0, offset: 0, length: 0, nth: 0 } }
    parentUuid = record.uuid
    return entry
  })
  return foldEntries(entries).messages
}

const inFile = (lived: LivedSession) => readTranscript(lived.path).view.messages

async function living<T>(world: World, use: (lived: LivedSession) => Promise<T>): Promise<T> {
  const lived = new LivedSession(world)
  try {
    await lived.begin()
    return await use(lived)
  } finally {
    await lived.remove()
  }
}

async function undoAll(lived: LivedSession, how: 'session' | 'command'): Promise<void> {
  const most = lived.records().length
  for (let undos = 0; undos <= most; undos++) {
    if (how === 'command') {
      if ((await lived.command('undo')) !== 0) return
    } else if ((await (await lived.open()).undo()).type === 'nothing-to-undo') return
  }
  throw new Error('There is no end to what can be undone.')
}

describe('whatever was done to a session', () => {
  test('the view in memory is the one that the file folds to, and the one that is there after reopening', {
    timeout: 90_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyWorld, fc.array(anyStep, { minLength: 1, maxLength: 18 }), async (world, steps) =>
        living(world, async (lived) => {
          for (const step of steps) {
            await lived.take(step)
            const now = (await lived.open()).messages()
            expect(now).toEqual(inFile(lived))
          }
        }),
      ),
      { numRuns: 20 },
    )
  })

  test('undoing everything restores the view, byte for byte', { timeout: 90_000 }, async () => {
    let withCacheEdits = 0
    await fc.assert(
      fc.asyncProperty(
        anyWorld,
        fc.array(anyStep, { minLength: 1, maxLength: 18 }),
        fc.constantFrom('session' as const, 'session' as const, 'command' as const),
        async (world, steps, how) =>
          living(world, async (lived) => {
            for (const step of steps) await lived.take(step)
            if (world.server === 'cache-edits' && lived.reducedBy.has('micro-by-cache-edit')) withCacheEdits++
            await undoAll(lived, how)
            const whole = JSON.stringify(unedited(lived))
            expect(JSON.stringify((await lived.open()).messages())).toBe(whole)
            await lived.close()
            expect(JSON.stringify((await lived.open()).messages())).toBe(whole)
          }),
      ),
      { numRuns: 40 },
    )
    // At least one in twenty. About one in six is normal.
    expect(withCacheEdits).toBeGreaterThanOrEqual(2)
  })

  test('one undo takes back one action', { timeout: 90_000 }, async () => {
    const actions = [
      'compact',
      'compact-from',
      'compact-up-to',
      'snip',
      'rewind',
      'command-micro',
      'command-snip',
    ] as const
    const anyAction = fc.record({ kind: fc.constantFrom(...actions), at: fc.nat(1_000), to: fc.nat(1_000) })
    await fc.assert(
      fc.asyncProperty(
        anyWorld,
        fc.array(anyStep, { minLength: 1, maxLength: 15 }),
        anyAction,
        async (world, steps: readonly Step[], action) =>
          living(world, async (lived) => {
            for (const step of steps) await lived.take(step)
            const before = JSON.stringify((await lived.open()).messages())
            const last = readTranscript(lived.path).lastAction
            await lived.take(action)
            // It may have been refused.
            if (JSON.stringify(readTranscript(lived.path).lastAction) !== JSON.stringify(last)) {
              await (await lived.open()).undo()
            }
            expect(JSON.stringify((await lived.open()).messages())).toBe(before)
          }),
      ),
      { numRuns: 20 },
    )
  })
})
