import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Block, blocksOf, type Message } from '../message/message.ts'
import type { ModelRequest } from '../ports/model.ts'
import { checkRequest } from './check-request.ts'
import { legalMessages, legalRequest } from './legal-request.ts'

const use = (id: string, more: object = {}): Block => ({ type: 'tool_use', id, name: 'Read', input: {}, ...more })
const result = (tool_use_id: string): Block => ({ type: 'tool_result', tool_use_id, content: 'found' })
const go: Message = { role: 'user', content: 'go' }
const a = (...content: Block[]): Message => ({ role: 'assistant', content })
const u = (...content: Block[]): Message => ({ role: 'user', content })

describe('calls for the Messages API', () => {
  test('that are legal stay as they are, in the very same array', () => {
    const request = [go, a(use('toolu_1'), use('call-2')), u(result('toolu_1'), result('call-2'))]
    expect(legalMessages(request)).toBe(request)
  })

  test('of other providers get a legal id, the same in call, result and cache edit', () => {
    const edits = (id: string): Block => ({ type: 'cache_edits', edits: [{ type: 'delete', cache_reference: id }] })
    const request = [
      go,
      a(use('functions.Read:0'), use('call_a|fc_b')),
      u(result('functions.Read:0'), result('call_a|fc_b')),
    ]
    const [, calls, results, edited] = legalMessages([...request, u(edits('functions.Read:0'))])
    const ids = blocksOf(calls?.content ?? '').map(({ id }) => String(id))
    expect(ids[0]).toMatch(/^functions_Read_0-[a-z0-9]+$/)
    expect(ids[1]).toMatch(/^call_a_fc_b-[a-z0-9]+$/)
    expect(results).toEqual(u(...ids.map(result)))
    expect(edited).toEqual(u(edits(String(ids[0]))))
  })

  test('keep the name they have when a later id looks like it', () => {
    const first = [go, a(use('f.0')), u(result('f.0'))]
    const later = ['f_0', 'f:0', ''].flatMap((id) => [a(use(id)), u(result(id))])
    expect(legalMessages([...first, ...later]).slice(0, first.length)).toEqual(legalMessages(first))
  })

  test('of other providers get a legal name, except where the request offers the tool by that name', () => {
    const request = [go, a(use('t1', { name: 'functions.Read' }), use('t2', { name: 'größe 工具' }))]
    const named = (offered: ReadonlySet<unknown> = new Set()) =>
      blocksOf(legalMessages(request, { offered })[1]?.content ?? '').map(({ name }) => name)
    expect(named()).toEqual(['functions_Read', 'gr__e___'])
    expect(named(new Set(['functions.Read']))).toEqual(['functions.Read', 'gr__e___'])
  })

  test('have the same name in context edits', () => {
    const edit = { type: 'clear_tool_uses_20250919', exclude_tools: ['a.b', 'Read'], clear_tool_inputs: ['a.b'] }
    const request: ModelRequest = {
      source: 'turn',
      model: 'claude-opus-5',
      messages: [go, a(use('t1', { name: 'a.b' })), u(result('t1'))],
      options: { context_management: { edits: [edit] } },
    }
    expect(legalRequest(request)).toEqual({
      ...request,
      messages: [go, a(use('t1', { name: 'a_b' })), u(result('t1'))],
      options: {
        context_management: { edits: [{ ...edit, exclude_tools: ['a_b', 'Read'], clear_tool_inputs: ['a_b'] }] },
      },
    })
  })

  test('have an input that is an object and a name that is not too long', () => {
    const calls = a(
      use('t1', { input: 'text' }),
      use('t2', { input: null }),
      use('t3', { name: '' }),
      use('t4', { name: 'n'.repeat(300) }),
    )
    expect(legalMessages([go, calls])[1]).toEqual(
      a(
        use('t1', { input: { input: 'text' } }),
        use('t2', { input: { input: null } }),
        use('t3', { name: 'unknown' }),
        use('t4', { name: 'n'.repeat(128) }),
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
      const legal = legalMessages(request)
      const named = legal.flatMap(({ content }) => blocksOf(content).flatMap((block) => block.id ?? []))
      expect(named.every((name) => /^[a-zA-Z0-9_-]+$/.test(String(name)))).toBe(true)
      expect(new Set(named).size).toBe(ids.length)
      expect(checkRequest(legal)).toEqual([])
      expect(legalMessages(legal)).toBe(legal)
      // Later messages never change earlier ones, whatever their ids.
      const known = request.slice(0, 3)
      expect(legal.slice(0, 3)).toEqual(legalMessages(known))
    }),
  )
})

const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
const image = (source: object, more: object = {}): Block => ({ type: 'image', source, ...more })
const document = (source: object): Block => ({ type: 'document', source })
const failed = (...content: Block[]): Block => ({ type: 'tool_result', tool_use_id: 't1', is_error: true, content })
const text = (value: string): Block => ({ type: 'text', text: value })

describe('blocks for the Messages API', () => {
  test.each<readonly [string, Block, Block]>([
    ['an unknown field', { ...text('a'), index: 3, parsed_output: {} }, text('a')],
    ['citations of the user', { ...text('a'), citations: [{}] }, text('a')],
    ['a mark of another kind', { ...text('a'), cache_control: { type: 'forever' } }, text('a')],
    [
      'a mark with an unknown field',
      { ...text('a'), cache_control: { type: 'ephemeral', ttl: '1h', scope: 'all' } },
      { ...text('a'), cache_control: { type: 'ephemeral', ttl: '1h' } },
    ],
    ['the wrong media type', image({ ...png, media_type: 'image/jpeg' }), image(png)],
    ['a data URL as data', image({ ...png, data: `data:image/png;base64,${png.data}` }), image(png)],
    ['a data URL as URL', image({ type: 'url', url: `data:image/png;base64,${png.data}` }), image(png)],
    [
      'a drawing',
      image({ ...png, media_type: 'image/svg+xml', data: 'PHN2Zz4=' }),
      text('[Image is left out: image/svg+xml, 8 characters of data]'),
    ],
    ['fields of its source', image({ ...png, detail: 'high' }), image(png)],
    [
      'parts of a document',
      document({ type: 'content', content: [{ ...text('a'), index: 3 }, image({ ...png, media_type: 'image/jpeg' })] }),
      document({ type: 'content', content: [text('a'), image(png)] }),
    ],
    [
      'a text of another kind',
      document({ type: 'text', media_type: 'text/markdown', data: '# a' }),
      document({ type: 'text', media_type: 'text/plain', data: '# a' }),
    ],
    [
      'a word processor file',
      document({ type: 'base64', media_type: 'application/msword', data: '0M8R' }),
      text('[Document is left out: application/msword, 4 characters of data]'),
    ],
    [
      'an error with an image',
      failed(text('broke'), image(png)),
      failed(text('broke'), text('[Image is left out: image/png, 12 characters of data]')),
    ],
    ['an error with a tool', failed({ type: 'tool_reference', tool_name: 'Deploy' }), failed(text('[Tool "Deploy"]'))],
    ['a flag that is no boolean', { ...result('t1'), is_error: 'yes' }, result('t1')],
    [
      'a search result without a title',
      { type: 'search_result', source: 'https://example.com', content: [text('tides')] },
      text('[Search result: https://example.com]\ntides'),
    ],
    ['an empty compaction', { type: 'compaction', content: '' }, { type: 'compaction', content: null }],
  ])('lose %s', (_, given, expected) => {
    const [, , legal] = legalMessages([go, a(use('t1')), u(given)], { takesCompactions: true })
    expect(legal).toEqual(u(expected))
    expect(legalMessages([u(expected)], { takesCompactions: true })[0]).toEqual(u(expected))
  })

  test('that are legal stay the same objects', () => {
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    const request = [
      u(text('a'), image(png, mark), image({ type: 'url', url: 'https://example.com/a.png' })),
      a({ type: 'thinking', thinking: '', signature: 'c2ln' }, { ...text('so'), citations: [{}] }, use('t1')),
      u(failed(text('broke')), document({ type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' })),
    ]
    expect(legalMessages(request)).toBe(request)
  })

  test('that a compaction of the server left are text for a request without its beta', () => {
    const messages = [go, a({ type: 'compaction', content: 'So far.', encrypted_content: 'x' }, text('on')), go]
    const request: ModelRequest = { source: 'turn', model: 'claude-opus-5', messages }
    expect(legalRequest(request).messages[1]).toEqual(a(text('[Summary by the server]\nSo far.'), text('on')))
    const known = { ...request, betas: ['compact-2026-01-12'] }
    expect(legalRequest(known)).toBe(known)
  })

  test.each([
    ['image/png', 'iVBORw0KGgoAAAANSUhEUg=='],
    ['image/jpeg', '/9j/4AAQSkZJRg=='],
    ['image/gif', 'R0lGODlhAQABAAAAACw='],
    ['image/webp', 'UklGRiQAAABXRUJQVlA4'],
  ])('hold images of type %s, recognized by their first bytes', (media_type, data) => {
    const sent = image({ type: 'base64', media_type: 'image/unknown', data })
    expect(legalMessages([u(sent)])).toEqual([u(image({ type: 'base64', media_type, data }))])
  })
})
