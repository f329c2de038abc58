// Files of the AI SDK as blocks of ours: their size is estimated from them. Data comes as bytes, base64, a URL, or a
// reference to something that the provider holds.
import type { Block } from '../../core/message/block.ts'
import { isObject, type JsonObject, stringAt } from '../../core/message/json.ts'
import type { Part } from './shapes.ts'

type Source = { readonly type: string } & JsonObject

/** Of parts of type `file` and `image`, and of items in a tool's result. */
export function mediaBlock(part: Part): Block {
  const given = part.data ?? part.image ?? part.url
  const type = mediaTypeOf(part)
  const source = sourceOf(given, type)
  if (source.type === 'text') return { type: 'text', text: String(source.data) }
  return { type: type.startsWith('image') ? 'image' : 'document', source }
}

function mediaTypeOf(part: Part): string {
  const named = stringAt(part, 'mediaType') ?? stringAt(part, 'mimeType')
  return named ?? (part.type.startsWith('image') ? 'image/png' : 'application/octet-stream')
}

function sourceOf(given: unknown, mediaType: string): Source {
  const base64 = (data: string): Source => ({ type: 'base64', media_type: mediaType, data })
  if (typeof given === 'string') return sourceOfString(given, base64)
  if (given instanceof Uint8Array) return base64(base64Of(given))
  if (given instanceof ArrayBuffer) return base64(base64Of(new Uint8Array(given)))
  if (!isObject(given)) return { type: 'unknown' }
  if (given.type === 'text') return { type: 'text', data: String(given.text) }
  if (given.type === 'data') return sourceOf(given.data, mediaType)
  if (given.type === 'url') return sourceOf(given.url, mediaType)
  // A URL object has no type of its own.
  const address = stringAt(given, 'href')
  if (address !== undefined) return sourceOfString(address, base64)
  return { type: 'file', file_id: JSON.stringify(given) }
}

function sourceOfString(text: string, base64: (data: string) => Source): Source {
  if (/^https?:/i.test(text)) return { type: 'url', url: text }
  const comma = text.startsWith('data:') ? text.indexOf(',') : -1
  return base64(comma < 0 ? text : text.slice(comma + 1))
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** By hand, because no runtime's own way exists in all of them. */
export function base64Of(bytes: Uint8Array): string {
  const out: string[] = []
  for (let at = 0; at < bytes.length; at += 3) {
    const [one = 0, two, three] = bytes.subarray(at, at + 3)
    const all = (one << 16) | ((two ?? 0) << 8) | (three ?? 0)
    const tail = two === undefined ? '==' : three === undefined ? `${digits[(all >> 6) & 63]}=` : undefined
    out.push(`${digits[all >> 18]}${digits[(all >> 12) & 63]}`, tail ?? `${digits[(all >> 6) & 63]}${digits[all & 63]}`)
  }
  return out.join('')
}
