import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Block, blocksOf } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import { checkRequest } from './check-request.ts'
import { withLegalCalls } from './messages-body.ts'

const use = (id: string, more: object = {}): Block => ({ type: 'tool_use', id, name: 'Read', input: {}, ...more })
const result = (tool_use_id: string): Block => ({ type: 'tool_result', tool_use_id, content: 'found' })
const go: Message = { role: 'user', content: 'go' }
const a = (...content: Block[]): Message => ({ role: 'assistant', content })
const u = (...content: Block[]): Message => ({ role: 'user', content })

describe('calls for the Messages API', () => {
  test('that are legal stay as they are, in the very same array', () => {
    const request = [go, a(use('toolu_1'), use('call-2')), u(result('toolu_1'), result('call-2'))]
    expect(withLegalCalls(request)).toBe(request)
  })

  test('of other providers get a legal id, the same in call, result and cache edit', () => {
    const edits = (id: string): Block => ({ type: 'cache_edits', edits: [{ type: 'delete', cache_reference: id }] })
    const request = [
      go,
      a(use('functions.Read:0'), use('call_a|fc_b')),
      u(result('functions.Read:0'), result('call_a|fc_b')),
    ]
    const [, calls, results, edited] = withLegalCalls([...request, u(edits('functions.Read:0'))])
    const ids = blocksOf(calls?.content ?? '').map(({ id }) => String(id))
    expect(ids[0]).toMatch(/^functions_Read_0-[a-z0-9]+$/)
    expect(ids[1]).toMatch(/^call_a_fc_b-[a-z0-9]+$/)
    expect(results).toEqual(u(...ids.map(result)))
    expect(edited).toEqual(u(edits(String(ids[0]))))
  })

  test('keep the name they have when a later id looks like it', () => {
    const first = [go, a(use('f.0')), u(result('f.0'))]
    const later = ['f_0', 'f:0', ''].flatMap((id) => [a(use(id)), u(result(id))])
    expect(withLegalCalls([...first, ...later]).slice(0, first.length)).toEqual(withLegalCalls(first))
  })

  test('have an input that is an object and a name that is not too long', () => {
    const calls = a(
      use('t1', { input: 'text' }),
      use('t2', { input: null }),
      use('t3', { name: '' }),
      use('t4', { name: 'n'.repeat(300) }),
    )
    expect(withLegalCalls([go, calls])[1]).toEqual(
      a(
        use('t1', { input: { input: 'text' } }),
        use('t2', { input: { input: null } }),
        use('t3', { name: 'unknown' }),
        use('t4', { name: 'n'.repeat(200) }),
      ),
    )
  })
})

test('whatever the ids, they come out legal, one for one, the pairs stay pairs, and a second time changes nothing', () => {
  const id = fc.string({
    unit: fc.constantFrom('a', '_', '-', '2', '.', '|', ':', ' ', 'é', '\ud83d\ude00'),
    maxLength: 4,
  })
  fc.assert(
    fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 8 }), (ids) => {
      const request = [go, ...ids.flatMap((one) => [a(use(one)), u(result(one))])]
      const legal = withLegalCalls(request)
      const named = legal.flatMap(({ content }) => blocksOf(content).flatMap((block) => block.id ?? []))
      expect(named.every((name) => /^[a-zA-Z0-9_-]+$/.test(String(name)))).toBe(true)
      expect(new Set(named).size).toBe(ids.length)
      expect(checkRequest(legal)).toEqual([])
      expect(withLegalCalls(legal)).toBe(legal)
      // Nothing that comes later changes what stands before it, whichever id it has.
      const known = request.slice(0, 3)
      expect(legal.slice(0, 3)).toEqual(withLegalCalls(known))
    }),
  )
})
