import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { imageSize } from './image-size.ts'

const base64 = (...bytes: readonly number[]) => Buffer.from(bytes).toString('base64')
const ascii = (text: string) => [...Buffer.from(text, 'latin1')]

describe('the size of an image', () => {
  test.each([
    ['GIF', base64(...ascii('GIF89a'), 0x40, 0x01, 0xc8, 0x00, 0, 0)],
    ['WebP, lossy', base64(...ascii('RIFF\0\0\0\0WEBPVP8 \0\0\0\0'), 0, 0, 0, 0x9d, 1, 0x2a, 0x40, 1, 0xc8, 0)],
    ['WebP, lossless', base64(...ascii('RIFF\0\0\0\0WEBPVP8L\0\0\0\0'), 0x2f, 0x3f, 0xc1, 0x31, 0, 0, 0, 0, 0, 0)],
    ['WebP, extended', base64(...ascii('RIFF\0\0\0\0WEBPVP8X\0\0\0\0'), 0, 0, 0, 0, 0x3f, 1, 0, 0xc7, 0, 0)],
    [
      'JPEG behind other segments',
      base64(0xff, 0xd8, 0xff, 0xe0, 0, 4, 9, 9, 0xff, 0xff, 0xc0, 0, 17, 8, 0, 200, 1, 64, 3, 0, 0, 0, 0),
    ],
  ])('is read from %s', (_, data) => {
    expect(imageSize(data)).toEqual({ width: 320, height: 200 })
  })

  test('is read after the head of a data URL', () => {
    const gif = base64(...ascii('GIF89a'), 0x40, 0x01, 0xc8, 0x00, 0, 0)
    expect(imageSize(`data:image/gif;base64,${gif}`)).toEqual({ width: 320, height: 200 })
  })

  test('is unknown for anything else, and asking never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => imageSize(text) === undefined))
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const size = imageSize(base64(0xff, 0xd8, ...bytes))
        expect(size === undefined || size.width > 0).toBe(true)
      }),
    )
  })
})
