// Reads the type and size of an image from the start of its base64. Decodes nothing else.

export type ImageSize = { readonly width: number; readonly height: number }

/** Enough for every header except a JPEG whose metadata comes first; its size stays unknown. */
const headCharacters = 16_384

function headOf(data: string): Buffer {
  return Buffer.from(data.slice(0, headCharacters), 'base64')
}

export function sniff(data: string): string | undefined {
  const head = headOf(data.slice(0, 32))
  if (head.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))) return 'image/png'
  if (head.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'image/jpeg'
  if (head.toString('latin1', 0, 4) === 'GIF8') return 'image/gif'
  if (head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP') return 'image/webp'
  return undefined
}

export function imageSize(data: string): ImageSize | undefined {
  const head = headOf(data)
  switch (sniff(data)) {
    case 'image/png':
      return head.length < 24 ? undefined : { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
    case 'image/gif':
      return head.length < 10 ? undefined : { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
    case 'image/jpeg':
      return jpegSize(head)
    default:
      return undefined
  }
}

/** The size is in the first start-of-frame segment. */
function jpegSize(head: Buffer): ImageSize | undefined {
  let at = 2
  while (at + 9 <= head.length) {
    const marker = head[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) }
    at += 2 + head.readUInt16BE(at + 2)
  }
  return undefined
}

/** Documented: width × height / 750, after scaling to at most 1,568 pixels a side and about 1.15 megapixels. */
export function imageTokens(data: string | undefined): number {
  const size = data === undefined ? undefined : imageSize(data)
  if (size === undefined) return 1_600
  const scale = Math.min(1, 1_568 / Math.max(size.width, size.height, 1))
  const tokens = Math.ceil((size.width * scale * size.height * scale) / 750)
  return Math.max(1, Math.min(tokens, 1_600))
}
