// Bodies as bytes: collected up to a limit, and decoded from any encoding.
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, type InputType, inflate, zstdDecompress } from 'node:zlib'
import { isObject, type JsonObject } from 'everlong/internal'

/** The bytes that passed. Undefined above the limit. */
export type Collected = { readonly bytes: () => Buffer | undefined; readonly add: (chunk: Buffer) => void }

export function collect(maxBytes: number): Collected {
  let chunks: Buffer[] | undefined = []
  let size = 0
  return {
    add: (chunk) => {
      size += chunk.length
      if (size > maxBytes) chunks = undefined
      chunks?.push(chunk)
    },
    bytes: () => chunks && Buffer.concat(chunks),
  }
}

export type Body =
  | { readonly type: 'read'; readonly bytes: Buffer }
  | { readonly type: 'too-large' }
  /** The client went away. */
  | { readonly type: 'broken' }

/** The whole body, for requests that must be read before they are forwarded. */
export async function readBody(incoming: Readable, maxBytes: number): Promise<Body> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of incoming) {
      size += chunk.length
      if (size > maxBytes) return { type: 'too-large' }
      chunks.push(chunk)
    }
  } catch {
    return { type: 'broken' }
  }
  return { type: 'read', bytes: Buffer.concat(chunks) }
}

type Decoder = (bytes: InputType, options: { readonly maxOutputLength: number }) => Promise<Buffer>

const decoders: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
}

/** Undefined if the encoding is unknown or invalid. `maxBytes` limits the unpacked size. */
export async function decoded(
  bytes: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return bytes
  const decode = decoders[name]
  if (!decode) return undefined
  return decode(bytes, { maxOutputLength: maxBytes }).catch(() => undefined)
}

/** A body as an object. Undefined if it is not one, or in an unknown encoding. */
export async function bodyObject(
  bytes: Buffer,
  { encoding, maxBytes }: { readonly encoding: string | undefined; readonly maxBytes: number },
): Promise<JsonObject | undefined> {
  const plain = await decoded(bytes, encoding, maxBytes)
  if (!plain) return undefined
  try {
    const value: unknown = JSON.parse(plain.toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
