// Decides which headers pass: all, in their order and spelling, except those of a single connection and our own.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** RFC 9110, 7.6.1, and headers that Node sets itself. */
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
  /** Host of the upstream. */
  readonly host: string
  /** The bytes to send. Undefined if the caller's body is streamed. */
  readonly length: number | undefined
  /** Set by the gateway; replaces the caller's headers with these names. */
  readonly own?: Readonly<Record<string, string>>
}

/** Names and values alternating, as in Node. */
export function requestHeaders(raw: readonly string[], { host, length, own = {} }: Sending): string[] {
  const isPassed = (name: string) =>
    name !== 'host' && name !== 'content-length' && !name.startsWith(ownPrefix) && !Object.hasOwn(own, name)
  return ['host', host, ...filtered(raw, isPassed), ...Object.entries(own).flat(), ...framing(raw, length)]
}

/** How the upstream finds the end of the body: like the caller's framing, unless the length is known. */
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

/** True if the caller sends its own credential, which the upstream will get. */
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
