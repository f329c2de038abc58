import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../../core/message/message.ts'
import type { KnownMessage } from './converter.ts'
import { giveBack } from './give-back.ts'
import { type Plain, plainConverter } from './testing/plain-converter.ts'

const knownOf = (foreign: Plain): KnownMessage<Plain> => ({ ...plainConverter.read(foreign), foreign })

/** In the form of a request: consecutive messages of one role are one. */
function merged(known: readonly KnownMessage<Plain>[]): readonly Message[] {
  const messages: { role: Message['role']; content: KnownMessage<Plain>['content'] }[] = []
  for (const { role, content } of known) {
    const last = messages.at(-1)
    if (last?.role === role) last.content = [...last.content, ...content]
    else messages.push({ role, content })
  }
  return messages
}

/** Only a few texts, so that equal messages follow one another. */
const said = fc.record({ role: fc.constantFrom('user', 'assistant'), text: fc.constantFrom('Go on.', 'Yes.') })

test('whatever repeats itself, each message comes back as the one it is', () => {
  fc.assert(
    fc.property(fc.array(said, { minLength: 1, maxLength: 8 }), fc.nat(7), (all, dropped) => {
      const known = all.map((message) => knownOf(message as Plain))
      // The oldest may have left the context.
      const left = known.slice(Math.min(dropped, known.length - 1))
      const back = giveBack(merged(left), known, plainConverter)
      expect(back.map(({ foreign }) => known.findIndex((one) => one.foreign === foreign))).toEqual(
        left.map((one) => known.indexOf(one)),
      )
      expect(back.map(({ known: at }) => at)).toEqual(left.map((one) => known.indexOf(one)))
    }),
  )
})

test('a mark for the cache is put on a message that had none, and a mark of the host stays as it is', () => {
  const marked: unknown[] = []
  const converter = {
    ...plainConverter,
    withMark: (foreign: Plain, mark: unknown) => {
      marked.push([foreign.text, mark])
      return foreign
    },
  }
  const known = ['one', 'two'].map((text) => knownOf({ role: 'user', text } as Plain))
  const hosts = { type: 'ephemeral', ttl: '1h' } as const
  const ours = { type: 'ephemeral' } as const
  const [first, second] = known
  const before = {
    ...(first as KnownMessage<Plain>),
    content: (first?.content ?? []).map((block) => ({ ...block, cache_control: hosts })),
  }
  const content = [...before.content, ...(second?.content ?? []).map((block) => ({ ...block, cache_control: ours }))]
  giveBack([{ role: 'user', content }], [before, second as KnownMessage<Plain>], converter as never)
  expect(marked).toEqual([['two', ours]])
})
