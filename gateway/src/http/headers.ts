// Which headers pass. Everything does, in the order and spelling in which it came, except what concerns one connection only and
// what is ours.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** RFC 9110, 7.6.1, and what Node sets itself. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])

/** Headers of ours, which no upstream sees. */
const ownPrefix = 'x-everlong-'

export type Sending = {
  /** Of the upstream. */
  readonly host: string
  /** The bytes that are sent; undefined if the caller's body is streamed. */
  readonly length: number | undefined
  /** Set by the gateway, instead of what the caller sent under these names. */
  readonly own?: Readonly<Record<string, string>>
}

/** Names and values, one after the other, as Node reads them and takes them. */
export function requestHeaders(raw: readonly string[], { host, length, own = {} }: Sending): string[] {
  const isPassed = (name: string) =>
    name !== 'host' && name !== 'content-length' && !name.startsWith(ownPrefix) && !Object.hasOwn(own, name)
  return ['host', host, ...filtered(raw, isPassed), ...Object.entries(own).flat(), ...framing(raw, length)]
}

/** How the upstream finds the end of the body: as the caller said, unless the bytes are known. */
function framing(raw: readonly string[], length: number | undefined): readonly string[] {
  const given = valueIn(raw, 'content-length')
  const isChunked = valueIn(raw, 'transfer-encoding') !== undefined
  if (length !== undefined) return length > 0 || given !== undefined ? ['content-length', String(length)] : []
  if (isChunked) return ['transfer-encoding', 'chunked']
  return given === undefined ? [] : ['content-length', given]
}

function valueIn(raw: readonly string[], name: string): string | undefined {
  const at = raw.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name)
  return at < 0 ? undefined : raw[at + 1]
}

export function responseHeaders(raw: readonly string[]): string[] {
  return filtered(raw, () => true)
}

function filtered(raw: readonly string[], isPassed: (name: string) => boolean): string[] {
  const named = namedByConnection(raw)
  const out: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]]
    const lower = name.toLowerCase()
    if (!ofConnection.has(lower) && !named.has(lower) && isPassed(lower)) out.push(name, value)
  }
  return out
}

/** `Connection: close, x-hop` says that x-hop concerns this connection only. */
function namedByConnection(raw: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== 'connection') continue
    for (const name of (raw[at + 1] ?? '').split(',')) names.add(name.trim().toLowerCase())
  }
  return names
}

/** Whether the caller brings a credential of its own that the upstream will get. */
export function hasCredential({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): boolean {
  const notPassed = namedByConnection(rawHeaders)
  return ['authorization', 'x-api-key', 'api-key'].some((name) => {
    const value = notPassed.has(name) ? undefined : headers[name]
    return typeof value === 'string' && value.replace(/^bearer\b/i, '').trim() !== ''
  })
}

export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}
