import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundedLines, type TooLong } from './lines.ts'

async function passed(chunks: readonly string[], maxBytes: number) {
  const tooLong: TooLong[] = []
  const lines = Readable.from(chunks.map((chunk) => Buffer.from(chunk))).pipe(
    boundedLines({ maxBytes, onTooLong: (line) => tooLong.push(line) }),
  )
  const text = Buffer.concat(await lines.toArray()).toString()
  return { text, tooLong }
}

const asked = (query: string, rest: object) => `${JSON.stringify({ ...rest, params: { query } })}\n`

test('lines that are short enough pass as they came, however they were cut', async () => {
  const lines = fc.array(fc.stringMatching(/^[a-z]{0,8}$/), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(lines, fc.integer({ min: 1, max: 20 }), async (all, size) => {
      const text = all.map((line) => `${line}\n`).join('')
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      const isShort = (line: string) => line.length + 1 <= 5
      expect(await passed(chunks, 5)).toEqual({
        text: all
          .filter(isShort)
          .map((line) => `${line}\n`)
          .join(''),
        tooLong: all.filter((line) => !isShort(line)).map((line) => ({ bytes: line.length + 1, id: undefined })),
      })
    }),
  )
})

test.for([
  ['first', asked('x'.repeat(9_000), { jsonrpc: '2.0', id: 7, method: 'tools/call' }), 7],
  ['last', `${JSON.stringify({ params: { query: 'x'.repeat(9_000) }, jsonrpc: '2.0', id: 'a-1' })}\n`, 'a-1'],
  ['nowhere', asked('x'.repeat(9_000), { method: 'notify' }), undefined],
  ['in something inside', `${JSON.stringify({ params: { query: 'x'.repeat(9_000), id: 5 } })}\n`, undefined],
  ['in a text', `${JSON.stringify({ params: 'x'.repeat(9_000), note: ',"id":5}' })}\n`, undefined],
] as const)('of a line that is too long, an id that stands %s is told rightly', async ([, line, id]) => {
  const after = asked('short', { id: 8 })
  expect(await passed([line.slice(0, 4_000), line.slice(4_000), after], 5_000)).toEqual({
    text: after,
    tooLong: [{ bytes: line.length, id }],
  })
})

test('an id at the end of a line that is too long is told, wherever the line was cut', async () => {
  const line = `${JSON.stringify({ params: 'x'.repeat(9_000), id: 'abcdef' })}\n`
  for (let cut = line.length - 20; cut < line.length; cut++) {
    const { tooLong } = await passed([line.slice(0, cut), line.slice(cut)], 5_000)
    expect(tooLong).toEqual([{ bytes: line.length, id: 'abcdef' }])
  }
})

test('what is left at the end without a newline passes too', async () => {
  expect(await passed(['one\ntwo'], 5)).toEqual({ text: 'one\ntwo', tooLong: [] })
})
