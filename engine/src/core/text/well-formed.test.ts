import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wellFormed, wellFormedValue } from './cut.ts'

test('half characters are replaced wherever they are, in keys too', () => {
  expect(wellFormed('a\ud800b😀')).toBe('a\ufffdb😀')
  const block = { type: 'tool_use', id: 't\udc00', input: { 'k\ud800': [1, null, { deep: 'x\ud83d' }], ok: true } }
  expect(wellFormedValue(block)).toEqual({
    type: 'tool_use',
    id: 't\ufffd',
    input: { 'k\ufffd': [1, null, { deep: 'x\ufffd' }], ok: true },
  })
})

test('what is well formed comes back as the very same value', () => {
  const fine = [{ text: '😀', parts: ['a', 1, null] }]
  expect(wellFormedValue(fine)).toBe(fine)
  const mixed = [{ text: '😀' }, { text: '\ud800' }]
  expect(wellFormedValue(mixed)[0]).toBe(mixed[0])
})

test('neither depth nor a ring costs more than a look at every part', () => {
  let value: unknown = '\ud800'
  for (let depth = 0; depth < 20_000; depth++) value = depth % 2 === 0 ? { value } : [value]
  const mended = wellFormedValue(value)
  let inner: unknown = mended
  while (typeof inner === 'object') inner = Object.values(inner as object)[0]
  expect(inner).toBe('\ufffd')
  expect(wellFormedValue(mended)).toBe(mended)
  const ring: { text: string; self?: unknown } = { text: '\ud800' }
  ring.self = ring
  expect(wellFormedValue(ring).text).toBe('\ufffd')
})

test('any JSON value becomes well formed and keeps its shape', () => {
  const half = fc.constantFrom('\ud800', '\udfff', 'a\ud83d', '😀', 'plain')
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), half, (value, extra) => {
      const mended = wellFormedValue([value, { [extra]: extra }])
      expect(JSON.stringify(mended)).not.toMatch(/\\ud[89a-f]/i)
      expect(wellFormedValue(mended)).toBe(mended)
    }),
  )
})
