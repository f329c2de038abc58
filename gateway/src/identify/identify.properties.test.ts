// People who talk without naming their conversations, in two tenants, in few words so that they often say the same: whatever they
// do, everything is kept once, in the right place, and no tenant sees another's words.

import { objectAt, textOf } from 'everlong/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recording, type Said } from '../testing/clients.ts'

type Person = { readonly tenant: string; messages: readonly Said[] }

const word = fc.constantFrom('a', 'b')
const act = fc.oneof(
  fc.record({ type: fc.constant('begin' as const), tenant: fc.constantFrom('one', 'two'), text: word, answer: word }),
  fc.record({ type: fc.constant('say' as const), who: fc.nat(), text: word, answer: word }),
  fc.record({ type: fc.constant('repeat' as const), who: fc.nat(), answer: fc.option(word, { nil: undefined }) }),
  fc.record({ type: fc.constant('fork' as const), who: fc.nat(), at: fc.nat(), text: word, answer: word }),
)

/** In words that no other tenant has. */
const own = (tenant: string, text: string): string => `${tenant}-${text}`

type Records = Awaited<ReturnType<ReturnType<typeof recording>['sessions']>>

/** The texts from the beginning up to each record without a successor. */
function threads(sessions: Records): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...sessions].map(([id, records]) => {
      const byUuid = new Map(records.map((record) => [record.uuid, record]))
      const parents = new Set(records.map(({ parentUuid }) => parentUuid))
      const ends = records.filter(({ uuid }) => !parents.has(uuid))
      return [
        id,
        ends.map((end) => {
          const said: string[] = []
          for (let at: typeof end | undefined = end; at; at = byUuid.get(at.parentUuid)) {
            said.unshift(textOf(objectAt(at, 'message')?.content as never))
          }
          return said.join(' ')
        }),
      ]
    }),
  )
}

const saidBy = ({ messages }: Person): string => messages.map(({ content }) => String(content)).join(' ')

test('nothing is lost, nothing is stored twice, and no tenant has words of another', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
      const { send, sessions, lines } = recording()
      const people: Person[] = []
      const said = async (person: Person, messages: readonly Said[], answer: string) => {
        const told = own(person.tenant, answer)
        await send({ tenant: person.tenant, messages, answer: told })
        person.messages = [...messages, { role: 'assistant', content: told }]
      }
      const user = (tenant: string, text: string): Said => ({ role: 'user', content: own(tenant, text) })
      for (const one of acts) {
        if (one.type === 'begin') {
          const person: Person = { tenant: one.tenant, messages: [] }
          people.push(person)
          await said(person, [user(one.tenant, one.text)], one.answer)
          continue
        }
        const person = people[one.who % Math.max(1, people.length)]
        if (!person) continue
        const { tenant, messages } = person
        if (one.type === 'say') await said(person, [...messages, user(tenant, one.text)], one.answer)
        if (one.type === 'repeat') {
          const before = await sessions(tenant)
          const request = messages.slice(0, -1)
          if (one.answer === undefined) await send({ tenant, messages: request, answer: undefined })
          else await send({ tenant, messages: request, answer: String(messages.at(-1)?.content) })
          expect(await sessions(tenant)).toEqual(before)
        }
        if (one.type === 'fork') {
          const exchanges = messages.length / 2
          const start = messages.slice(0, 2 * (one.at % exchanges))
          const other: Person = { tenant, messages: start }
          people.push(other)
          await said(other, [...start, user(tenant, one.text)], one.answer)
        }
      }
      for (const tenant of ['one', 'two']) {
        const kept = [...threads(await sessions(tenant)).values()].flat()
        // Every conversation is there, whole.
        for (const person of people.filter((one) => one.tenant === tenant)) {
          expect(kept.some((thread) => `${thread} `.startsWith(`${saidBy(person)} `))).toBe(true)
        }
        // Nothing was made up: every thread is what somebody said.
        const words = new Set(kept.flatMap((thread) => thread.split(' ')).map((text) => text.split('-')[0]))
        expect([...words].filter((name) => name !== tenant)).toEqual([])
      }
      expect(lines).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test('a fork gets a session of its own, and the session it came from stays as it was', async () => {
  const { send, sessions } = recording()
  const tenant = 'one'
  const user = (content: string): Said => ({ role: 'user', content })
  const assistant = (content: string): Said => ({ role: 'assistant', content })
  await send({ tenant, messages: [user('a')], answer: 'b' })
  await send({ tenant, messages: [user('a'), assistant('b'), user('c')], answer: 'd' })
  const before = (await sessions(tenant)).get('s1')
  await send({ tenant, messages: [user('a'), assistant('b'), user('other')], answer: 'e' })
  const after = await sessions(tenant)
  expect(after.get('s1')).toEqual(before)
  expect([...after.keys()]).toEqual(['s1', 's2'])
  expect(objectAt(objectAt(after.get('s2')?.at(-1), 'everlong'), 'gateway')).toMatchObject({ forkedFrom: 's1' })
  await send({ tenant, messages: [user('a'), assistant('b'), user('c'), assistant('d'), user('x')], answer: 'f' })
  expect([...threads(await sessions(tenant))]).toEqual([
    ['s1', ['a b c d x f']],
    ['s2', ['a b other e']],
  ])
})
