// Joins pictures in the WebP format into a moving one, which repeats forever. The browser encodes the pictures; here they only get the frame
// that the format asks for (RIFF chunks: https://developers.google.com/speed/webp/docs/riff_container).

export type MovingFrame = {
  /** A WebP file of one picture. */
  readonly picture: Buffer
  readonly milliseconds: number
}

export type MovingSize = { readonly width: number; readonly height: number }

const animationFlag = 0x02
/** Replaces the frame before it instead of being drawn over it. */
const noBlending = 0x02

/** All pictures must have this size. */
export function animatedWebp(frames: readonly MovingFrame[], { width, height }: MovingSize): Buffer {
  const size = Buffer.concat([bytes(width - 1, 3), bytes(height - 1, 3)])
  const header = chunk('VP8X', Buffer.concat([bytes(animationFlag, 4), size]))
  // The background is white, and it repeats without an end.
  const animation = chunk('ANIM', Buffer.concat([bytes(0xffffffff, 4), bytes(0, 2)]))
  const parts = frames.map(({ picture, milliseconds }) => {
    const place = Buffer.concat([bytes(0, 6), size, bytes(milliseconds, 3), bytes(noBlending, 1)])
    return chunk('ANMF', Buffer.concat([place, ...imageChunks(picture)]))
  })
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), header, animation, ...parts]))
}

/** The chunks with the picture itself; what else a file may have is left out. */
function imageChunks(picture: Buffer): readonly Buffer[] {
  if (picture.toString('latin1', 0, 4) !== 'RIFF' || picture.toString('latin1', 8, 12) !== 'WEBP')
    throw new Error('A frame is no WebP picture.')
  const found: Buffer[] = []
  for (let at = 12; at + 8 <= picture.length; ) {
    const length = picture.readUInt32LE(at + 4)
    const end = at + 8 + length + (length % 2)
    if (['ALPH', 'VP8 ', 'VP8L'].includes(picture.toString('latin1', at, at + 4))) found.push(picture.subarray(at, end))
    at = end
  }
  if (found.length === 0) throw new Error('A frame has no picture.')
  return found
}

/** The length of the content is always even here, so nothing is added. */
function chunk(name: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(name), bytes(content.length, 4), content])
}

/** Little-endian. */
function bytes(value: number, length: number): Buffer {
  const made = Buffer.alloc(length)
  made.writeUIntLE(value, 0, length)
  return made
}
