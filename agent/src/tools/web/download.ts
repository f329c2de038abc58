// Downloads one page over HTTP, within limits of size and time. Connects to the addresses that were checked, so that a name
// cannot point elsewhere a moment later.
import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import zlib from 'node:zlib'

export type Page =
  | {
      readonly type: 'page'
      readonly status: number
      readonly mediaType: string
      readonly bytes: Buffer
      readonly isCut: boolean
    }
  | { readonly type: 'redirect'; readonly status: number; readonly to: string }
  | { readonly type: 'failed'; readonly why: string }

export type DownloadOptions = {
  readonly addresses: readonly string[]
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly mostBytes: number
}

export function download(url: URL, options: DownloadOptions): Promise<Page> {
  const { addresses, signal, timeoutMs } = options
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  return new Promise((resolve) => {
    const fail = (error: Error) => {
      const isLate = limit.aborted && !signal.aborted
      resolve({ type: 'failed', why: isLate ? `No answer within ${timeoutMs / 1000} s.` : problemText(error) })
    }
    const list = addresses.map((address) => ({ address, family: isIP(address) }))
    const request = (url.protocol === 'https:' ? https : http).get(
      url,
      {
        signal: limit,
        headers: {
          accept: 'text/html, text/markdown, text/plain, application/json, */*',
          'accept-encoding': 'gzip, deflate, br',
          'user-agent': 'everlong-agent',
        },
        lookup: (_host, { all }, done) => {
          const [first] = list
          if (all) done(null, list)
          else done(null, first?.address ?? '', first?.family ?? 4)
        },
      },
      (response) => void answered(response, options.mostBytes).then(resolve, fail),
    )
    request.on('error', fail)
  })
}

async function answered(response: http.IncomingMessage, mostBytes: number): Promise<Page> {
  const { statusCode: status = 0, headers } = response
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    response.destroy()
    return { type: 'redirect', status, to: headers.location }
  }
  const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const { bytes, isCut } = await readUpTo(decoded(response), mostBytes)
  response.destroy()
  return { type: 'page', status, mediaType, bytes, isCut }
}

function decoded(response: http.IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.toLowerCase()
  const decoder =
    encoding === 'gzip'
      ? zlib.createGunzip()
      : encoding === 'deflate'
        ? zlib.createInflate()
        : encoding === 'br'
          ? zlib.createBrotliDecompress()
          : undefined
  if (!decoder) return response
  response.on('error', (error) => decoder.destroy(error))
  return response.pipe(decoder)
}

async function readUpTo(stream: Readable, most: number): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > most) return { bytes: Buffer.concat(chunks).subarray(0, most), isCut: true }
  }
  return { bytes: Buffer.concat(chunks), isCut: false }
}

function problemText(error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'ECONNREFUSED') return 'The connection was refused.'
  if (code === 'ECONNRESET') return 'The connection was closed by the other side.'
  if (error.name === 'AbortError') return 'The request was stopped.'
  return error.message
}
