// After any edits, a session opened from its end in the database shows what it showed when it was closed.
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Session } from '../../core/session/session-api.ts'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { postgresForTests } from '../testing/postgres-server.ts'

const server = await postgresForTests()
afterAll(() => server?.stop())

const steps = ['talk', 'talk', 'talk', 'compact', 'compact', 'undo', 'rewind', 'pin', 'snip', 'tools'] as const
type Step = { readonly kind: (typeof steps)[number]; readonly at: number }

const anyStep: fc.Arbitrary<Step> = fc.record({ kind: fc.constantFrom(...steps), at: fc.nat({ max: 1_000 }) })

test.runIf(server)('the view of a reopened session is the view it was closed with', async () => {
  if (!server) return
  const store = server.store()
  let count = 0
  let partial = 0
  const property = fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 10 }), async (chosen) => {
    const id = `session-${++count}`
    const engine = createEngine({ model: offline(), store })
    const session = await engine.start({ id })
    const said: string[] = []
    for (const step of [{ kind: 'talk', at: 0 } as const, ...chosen]) await perform(session, step, said)
    await session.stored()
    const shown = JSON.stringify(session.messages())
    await session.close()
    const held = await store.open(id, { as: 'existing' })
    if (held.type !== 'opened') throw new Error(held.type)
    if (!held.session.isWhole) partial++
    await held.session.release()
    const again = await engine.open(id)
    expect(JSON.stringify(again.messages())).toBe(shown)
    await again.close()
  })
  await fc.assert(property, { numRuns: 15 })
  expect(partial).toBeGreaterThan(0)
})

async function perform(session: Session, { kind, at }: Step, said: string[]): Promise<void> {
  const chosen = said[at % said.length] ?? ''
  if (kind === 'talk') said.push(...talk(session, at))
  else if (kind === 'tools') said.push(...useTools(session, at))
  else if (kind === 'compact') await session.compact()
  else if (kind === 'undo') await session.undo()
  else if (kind === 'rewind') await session.rewind(chosen)
  else if (kind === 'pin') await session.pin(chosen)
  else await session.snip({ from: chosen, to: said[(at * 7) % said.length] ?? '' })
}

/** More entries than a window reads in advance. */
function talk(session: Session, at: number): readonly string[] {
  return Array.from({ length: 60 }, (_, nth) => nth).flatMap((nth) => [
    ...session.add({ role: 'user', content: `Prompt ${nth} of talk ${at}.` }),
    ...session.add({ role: 'assistant', content: `Answer ${nth} of talk ${at}.` }),
  ])
}

function useTools(session: Session, at: number): readonly string[] {
  const ids = [`toolu_${at}_1`, `toolu_${at}_2`]
  return [
    ...session.add({ role: 'user', content: 'Look at both.' }),
    ...session.add({
      role: 'assistant',
      content: ids.map((id) => ({ type: 'tool_use', id, name: 'Read', input: {} })),
    }),
    ...session.add({
      role: 'user',
      content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `A file. ${'line '.repeat(900)}` })),
    }),
    ...session.add({ role: 'assistant', content: 'Seen.' }),
  ]
}
