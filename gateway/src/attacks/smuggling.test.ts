// A second tenant tries to hide a request inside another one, so that the gateway and the upstream disagree about where a request
// ends. Raw sockets. Whatever is ambiguous is refused, and what passes arrives at the upstream as exactly one request.
import { expect, test } from 'vitest'
import { annsKey, bobsKey, keys, started, upstream } from '../testing/started.ts'
import { exchangeBytes, statusesIn } from './wire.ts'

const own = `Host: gateway\r\nX-Api-Key: bobs\r\nX-Everlong-Key: ${bobsKey}\r\n`
/** Nobody may ever see this one at the upstream. */
const hidden = `GET /v1/hidden HTTP/1.1\r\nHost: gateway\r\nX-Api-Key: stolen\r\nX-Everlong-Key: ${annsKey}\r\n\r\n`
const post = (more: string, body: string, version = '1.1') =>
  `POST /v1/messages HTTP/${version}\r\n${own}${more}\r\n${body}`
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const last = '0\r\n\r\n'
const length = hidden.length

const refused: readonly (readonly [string, string])[] = [
  ['CL.TE', post(`Content-Length: ${length + 5}\r\nTransfer-Encoding: chunked\r\n`, `${last}${hidden}`)],
  ['TE.CL', post('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', `${chunk(hidden)}${last}`)],
  ['two different lengths', post(`Content-Length: 2\r\nContent-Length: ${length + 2}\r\n`, `{}${hidden}`)],
  ['the same length twice', post('Content-Length: 2\r\nContent-Length: 2\r\n', `{}${hidden}`)],
  ['lengths in a list', post(`Content-Length: 2, ${length}\r\n`, `{}${hidden}`)],
  ['a negative length', post('Content-Length: -1\r\n', hidden)],
  ['a length with a plus', post('Content-Length: +2\r\n', `{}${hidden}`)],
  ['a hexadecimal length', post('Content-Length: 0x2\r\n', `{}${hidden}`)],
  ['a length beyond 64 bits', post('Content-Length: 99999999999999999999999\r\n', hidden)],
  ['a length that is a word', post('Content-Length: two\r\n', `{}${hidden}`)],
  ['chunked twice', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', `${last}${hidden}`)],
  ['an unknown coding at the end', post('Transfer-Encoding: chunked, x\r\n', `${last}${hidden}`)],
  ['a coding that only looks like chunked', post('Transfer-Encoding: xchunked\r\n', `${last}${hidden}`)],
  ['a coding with a vertical tab', post('Transfer-Encoding:\x0bchunked\r\n', `${last}${hidden}`)],
  ['space before the colon', post('Transfer-Encoding : chunked\r\n', `${last}${hidden}`)],
  ['a folded header', post('X-Note: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n', `{}${hidden}`)],
  ['a folded length', post('Content-Length:\r\n 2\r\n', `{}${hidden}`)],
  ['a zero byte in a header', post('X-Note: a\0b\r\nContent-Length: 2\r\n', `{}${hidden}`)],
  ['a bare carriage return', post('X-Note: a\rTransfer-Encoding: chunked\r\nContent-Length: 2\r\n', `{}${hidden}`)],
  ['a header without a name', post(': value\r\nContent-Length: 2\r\n', `{}${hidden}`)],
  ['a chunk size that is no number', post('Transfer-Encoding: chunked\r\n', `zz\r\n{}\r\n${last}${hidden}`)],
  ['a negative chunk size', post('Transfer-Encoding: chunked\r\n', `-2\r\n{}\r\n${last}${hidden}`)],
  ['a chunk size beyond 64 bits', post('Transfer-Encoding: chunked\r\n', `fffffffffffffffff\r\n${hidden}`)],
  ['a chunk longer than its size', post('Transfer-Encoding: chunked\r\n', `1\r\n{}\r\n${last}${hidden}`)],
  ['a chunk without its line end', post('Transfer-Encoding: chunked\r\n', `2\r\n{}${last}${hidden}`)],
  ['a chunk size with a bare line feed', post('Transfer-Encoding: chunked\r\n', `2\n{}\r\n${last}${hidden}`)],
  ['more bytes after the last request', post('Content-Length: 2\r\nConnection: close\r\n', `{}${hidden}`)],
  ['chunks in HTTP 1.0', post('Transfer-Encoding: chunked\r\n', `${chunk('{}')}${last}${hidden}`, '1.0')],
  ['no host', 'POST /v1/messages HTTP/1.1\r\nX-Api-Key: k\r\nContent-Length: 0\r\n\r\n'],
  ['no version', `GET /v1/models\r\n${own}\r\n`],
  ['a version that does not exist', post('Content-Length: 2\r\n', `{}${hidden}`, '1.9')],
  ['a line feed in the path', `GET /v1/models\nX: y HTTP/1.1\r\n${own}\r\n`],
  ['a space in the path', `GET /v1/models /v1/hidden HTTP/1.1\r\n${own}\r\n`],
]

test.each(refused)('refused, and nothing reaches the upstream: %s', async (_, bytes) => {
  const { got, url } = await upstream(() => ({ body: '{}' }))
  const gateway = await started({ config: { keys, upstreams: { simulator: { url } } } })
  const received = await exchangeBytes(gateway.url, bytes)
  expect([statusesIn(received), got.map(({ request }) => request.url)]).toEqual([[400], []])
})

const passes: readonly (readonly [string, string, string])[] = [
  ['a length in HTTP 1.0', post('Content-Length: 2\r\n', '{}', '1.0'), '{}'],
  ['chunks', post('Transfer-Encoding: chunked\r\nConnection: close\r\n', `${chunk('{}')}${last}`), '{}'],
  ['chunks in capitals', post('TRANSFER-ENCODING: CHUNKED\r\nConnection: close\r\n', `${chunk('{}')}${last}`), '{}'],
  [
    'a request inside a chunk',
    post('Transfer-Encoding: chunked\r\nConnection: close\r\n', `${chunk(hidden)}${last}`),
    hidden,
  ],
  ['a chunk extension', post('Transfer-Encoding: chunked\r\nConnection: close\r\n', `2;x=y\r\n{}\r\n${last}`), '{}'],
  [
    'trailers',
    post(
      'Transfer-Encoding: chunked\r\nTrailer: X-Api-Key\r\nConnection: close\r\n',
      `${chunk('{}')}0\r\nX-Api-Key: stolen\r\nX-Everlong-Key: ${annsKey}\r\n\r\n`,
    ),
    '{}',
  ],
  [
    'an upgrade to another protocol',
    post(
      'Content-Length: 2\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n',
      '{}',
    ),
    '{}',
  ],
]

test.each(passes)('one request arrives, with this body and the framing of the gateway: %s', async (_, bytes, body) => {
  const { got, url } = await upstream(() => ({ body: '{}' }))
  const gateway = await started({ config: { keys, upstreams: { simulator: { url } } } })
  const received = await exchangeBytes(gateway.url, bytes)
  expect(statusesIn(received)).toEqual([200])
  expect(got.map(({ request, body }) => [request.url, body.toString('latin1')])).toEqual([['/v1/messages', body]])
  const { headers, rawHeaders, trailers } = got[0]!.request
  expect([headers['x-api-key'], headers.upgrade, headers['http2-settings'], trailers]).toEqual([
    'bobs',
    undefined,
    undefined,
    {},
  ])
  expect(rawHeaders.filter((name) => /^(content-length|transfer-encoding)$/i.test(name))).toHaveLength(1)
})

test('of two requests on one connection each has the tenant of its own key', async () => {
  const { url, sessions } = await started({ config: { keys } })
  const said = (key: string, text: string, close = '') => {
    const body = JSON.stringify({ model: 'claude-opus-5', max_tokens: 9, messages: [{ role: 'user', content: text }] })
    const head = `Host: g\r\nX-Api-Key: k\r\nAnthropic-Version: 2023-06-01\r\nX-Everlong-Key: ${key}\r\n${close}`
    return `POST /v1/messages HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`
  }
  const received = await exchangeBytes(
    url,
    said(annsKey, 'I am Ann.') + said(bobsKey, 'I am Bob.', 'Connection: close\r\n'),
  )
  expect(statusesIn(received)).toEqual([200, 200])
  expect(JSON.stringify([...(await sessions('acme'))])).not.toContain('Bob')
  expect(JSON.stringify([...(await sessions('rivals'))])).not.toContain('Ann')
})
