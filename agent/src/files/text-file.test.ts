import { expect, test } from 'vitest'
import { binaryKind, decodeText, imageType } from './text-file.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const withNulAt = (at: number) => {
  const made = Buffer.alloc(at + 1, 'a')
  made[at] = 0
  return made
}

test.each([
  ['%PDF-1.7', 'PDF'],
  ['PK\u0003\u0004…', 'zip archive'],
  ['\u001f\u008b\u0008', 'gzip archive'],
  ['\u007fELF\u0002', 'ELF executable'],
  ['SQLite format 3\u0000', 'SQLite database'],
  ['\u0000asm', 'WebAssembly module'],
  ['a\u0000b', 'unknown type'],
  [' %PDF-1.7', undefined],
  ['plain', undefined],
  ['', undefined],
])('a file that begins with %j is binary of kind %o', (text, kind) => {
  expect(binaryKind(bytes(text))).toBe(kind)
})

test('a NUL character counts in the first 8,000 bytes only', () => {
  expect([100, 7_999, 8_000].map((at) => binaryKind(withNulAt(at)))).toEqual([
    'unknown type',
    'unknown type',
    undefined,
  ])
})

test.each([
  ['\u0089PNG\r\n\u001a\n', 'image/png'],
  ['\u00ff\u00d8\u00ff\u00e0', 'image/jpeg'],
  ['GIF89a', 'image/gif'],
  ['GIF87a', 'image/gif'],
  ['RIFF0000WEBPVP8', 'image/webp'],
  ['RIFF0000WAVE', undefined],
  ['PNG', undefined],
])('an image that begins with %j is %o', (text, type) => {
  expect(imageType(bytes(text))).toBe(type)
})

test('text keeps its byte order mark, and bytes that are no UTF-8 are no text', () => {
  expect(decodeText(Buffer.from('\ufeffä'))).toBe('\ufeffä')
  expect(decodeText(Buffer.from([0x61, 0xff]))).toBe(undefined)
})
