import { expect, test } from 'vitest'
import { animatedWebp } from './animated-webp.ts'

/** A file with one chunk for the picture and one that is not part of it. */
function still(content: string): Buffer {
  const chunk = (name: string, text: string) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(text.length)
    return Buffer.concat([Buffer.from(name), length, Buffer.from(text), Buffer.alloc(text.length % 2)])
  }
  const chunks = Buffer.concat([chunk('EXIF', 'odd'), chunk('VP8 ', content)])
  return chunk('RIFF', `WEBP${chunks.toString('latin1')}`)
}

test('pictures become frames with their times, one after the other', () => {
  const made = animatedWebp(
    [
      { picture: still('abc'), milliseconds: 500 },
      { picture: still('defg'), milliseconds: 70_000 },
    ],
    { width: 300, height: 200 },
  )
  const hex = (text: string) => Buffer.from(text).toString('hex')
  const size = '2b0100' + 'c70000'
  const first = `${hex('VP8 ')}03000000${hex('abc')}00`
  const second = `${hex('VP8 ')}04000000${hex('defg')}`
  const expected = [
    `${hex('WEBP')}${hex('VP8X')}0a00000002000000${size}`,
    `${hex('ANIM')}06000000ffffffff0000`,
    `${hex('ANMF')}1c000000000000000000${size}f4010002${first}`,
    `${hex('ANMF')}1c000000000000000000${size}70110102${second}`,
  ].join('')
  const length = Buffer.alloc(4)
  length.writeUInt32LE(expected.length / 2)
  expect(made.toString('hex')).toBe(`${hex('RIFF')}${length.toString('hex')}${expected}`)
})

test('something else than a picture is refused', () => {
  const size = { width: 1, height: 1 }
  const png = Buffer.from('\x89PNG 12345678')
  expect(() => animatedWebp([{ picture: png, milliseconds: 1 }], size)).toThrow('A frame is no WebP picture.')
  const empty = Buffer.from('RIFF\x04\0\0\0WEBP', 'latin1')
  expect(() => animatedWebp([{ picture: empty, milliseconds: 1 }], size)).toThrow('A frame has no picture.')
})
