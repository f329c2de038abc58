// Reads an image's dimensions from the head of its base64 data, and computes what the API charges.
import { modelFacts } from '../../catalog/models.ts'

export type Dimensions = { readonly width: number; readonly height: number }

type Bytes = { readonly length: number; readonly at: (index: number) => number }

export function imageSize(base64: string): Dimensions | undefined {
  const bytes = bytesOf(base64)
  const size = pngSize(bytes) ?? gifSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes)
  return size && size.width > 0 && size.height > 0 ? size : undefined
}

/** Pixels / 750, after the API has scaled the image down. */
export function imageTokens({ width, height }: Dimensions, model?: string): number {
  const isNew = model !== undefined && modelFacts(model)?.tokenizer === 'claude-new'
  const [edge, max] = isNew ? [2_576, 5_000] : [1_568, 1_600]
  const shrink = Math.min(1, edge / Math.max(width, height))
  return Math.max(1, Math.min(max, Math.round((width * shrink * height * shrink) / 750)))
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Other characters count as 0, and the header checks then fail. */
function bytesOf(base64: string): Bytes {
  const start = base64.startsWith('data:') ? base64.indexOf(',') + 1 : 0
  const digit = (index: number) => {
    const letter = base64[start + index] ?? ''
    return Math.max(0, digits.indexOf(letter === '-' ? '+' : letter === '_' ? '/' : letter))
  }
  return {
    length: Math.floor(((base64.length - start) * 3) / 4),
    at: (index) => {
      const first = Math.floor(index / 3) * 4 + (index % 3)
      const shift = 2 * (index % 3)
      return ((digit(first) << (2 + shift)) | (digit(first + 1) >> (4 - shift))) & 255
    },
  }
}

function bigEndian(bytes: Bytes, at: number, length: number): number {
  let value = 0
  for (let index = 0; index < length; index++) value = value * 256 + bytes.at(at + index)
  return value
}

function littleEndian(bytes: Bytes, at: number, length: number): number {
  return bigEndian({ length, at: (index) => bytes.at(at + length - 1 - index) }, 0, length)
}

function spells(bytes: Bytes, at: number, text: string): boolean {
  return [...text].every((char, index) => bytes.at(at + index) === char.charCodeAt(0))
}

function pngSize(bytes: Bytes): Dimensions | undefined {
  if (bytes.length < 24 || !spells(bytes, 1, 'PNG') || !spells(bytes, 12, 'IHDR')) return undefined
  return { width: bigEndian(bytes, 16, 4), height: bigEndian(bytes, 20, 4) }
}

function gifSize(bytes: Bytes): Dimensions | undefined {
  if (bytes.length < 10 || !spells(bytes, 0, 'GIF8')) return undefined
  return { width: littleEndian(bytes, 6, 2), height: littleEndian(bytes, 8, 2) }
}

function webpSize(bytes: Bytes): Dimensions | undefined {
  if (bytes.length < 30 || !spells(bytes, 0, 'RIFF') || !spells(bytes, 8, 'WEBPVP8')) return undefined
  const kind = bytes.at(15)
  if (kind === 0x58) return { width: littleEndian(bytes, 24, 3) + 1, height: littleEndian(bytes, 27, 3) + 1 }
  if (kind === 0x20) return { width: littleEndian(bytes, 26, 2) & 0x3fff, height: littleEndian(bytes, 28, 2) & 0x3fff }
  const packed = littleEndian(bytes, 21, 4)
  return { width: (packed % 0x4000) + 1, height: (Math.floor(packed / 0x4000) % 0x4000) + 1 }
}

function jpegSize(bytes: Bytes): Dimensions | undefined {
  if (bytes.at(0) !== 0xff || bytes.at(1) !== 0xd8) return undefined
  for (let at = 2; at + 9 < bytes.length && bytes.at(at) === 0xff; ) {
    const marker = bytes.at(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { width: bigEndian(bytes, at + 7, 2), height: bigEndian(bytes, at + 5, 2) }
    at += marker === 0xff ? 1 : 2 + bigEndian(bytes, at + 2, 2)
  }
  return undefined
}
