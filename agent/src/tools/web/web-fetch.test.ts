import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { benches } from '../../testing/with-bench.ts'
import { isPrivateAddress } from './addresses.ts'
import { whyNotFollowed } from './web-fetch.ts'

const setBench = benches()
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const local = { permissions: { allow: ['WebFetch(domain:127.0.0.1)'] } }

test.each([
  ['127.0.0.1', true],
  ['10.1.2.3', true],
  ['172.31.0.1', true],
  ['172.32.0.1', false],
  ['192.168.1.1', true],
  ['169.254.169.254', true],
  ['100.100.0.1', true],
  ['0.0.0.0', true],
  ['8.8.8.8', false],
  ['::1', true],
  ['::', true],
  ['fe80::1', true],
  ['fd00::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:8.8.8.8', false],
  ['2606:4700::1111', false],
  ['::ffff:7f00:1', true],
  ['0:0:0:0:0:ffff:127.0.0.1', true],
  ['::FFFF:a9fe:a9fe', true],
  ['::ffff:808:808', false],
  ['::7f00:1', true],
  ['::ffff:0:7f00:1', true],
  ['64:ff9b::7f00:1', true],
  ['64:ff9b:1::7f00:1', true],
  ['2002:7f00:1::', true],
  ['2001::1', true],
  ['2001:1ff::1', true],
  ['2001:200::1', false],
  ['100::1', true],
  ['192.88.99.1', true],
  ['fe80::1%eth0', true],
  ['::1%lo', true],
  ['2606:4700::1111%1', true],
  ['not an address', true],
])('%s is private: %s', (address, isPrivate) => {
  expect(isPrivateAddress(address)).toBe(isPrivate)
})

describe('a page', () => {
  test('comes as Markdown without scripts', async () => {
    const html = `<html><head><title>Docs</title><style>p{}</style></head><body><h1>Hello</h1><script>evil()</script>
      <p>Read <a href="/more">more</a>.</p><ul><li>one</li></ul><pre><code>x = 1</code></pre></body></html>`
    const url = await serve((request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(request.headers['accept-encoding']?.includes('gzip') ? html : ''))
    })
    const bench = await setBench(local)
    expect(await bench.say('WebFetch', { url })).toBe(
      '# Docs\n\n# Hello\n\nRead [more](/more).\n\n-   one\n\n```\nx = 1\n```',
    )
  })

  test('that is text is left as it is; a long one comes in parts', async () => {
    const url = await serve((_, response) => response.setHeader('content-type', 'text/plain').end('ab'.repeat(30_000)))
    const bench = await setBench(local)
    const first = await bench.say('WebFetch', { url })
    expect(first).toBe(`${'ab'.repeat(20_000)}\n[20000 more characters: continue with offset 40000]`)
    expect(await bench.say('WebFetch', { url, offset: 40_000 })).toBe('ab'.repeat(10_000))
    expect(await bench.say('WebFetch', { url, offset: 70_000 })).toBe(
      'ERROR: The page has 60000 characters: there is nothing at 70000.',
    )
  })

  test('that is not text, not there or broken is an error in words', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/image') response.setHeader('content-type', 'image/png').end('x')
      else if (request.url === '/cut') response.destroy()
      else if (request.url === '/zip') response.setHeader('content-encoding', 'gzip').end('no gzip')
      else response.writeHead(404, { 'content-type': 'text/plain' }).end('Nothing here.')
    })
    const bench = await setBench(local)
    expect(await bench.say('WebFetch', { url: `${url}/image` })).toBe(
      `ERROR: ${url}/image is image/png, not text (1 bytes).`,
    )
    expect(await bench.say('WebFetch', { url: `${url}/x` })).toBe('ERROR: HTTP 404\nNothing here.')
    expect(await bench.say('WebFetch', { url: `${url}/cut` })).toMatch(/^ERROR: http.*\/cut: /)
    expect(await bench.say('WebFetch', { url: `${url}/zip` })).toMatch(/^ERROR: http.*\/zip: /)
  })

  test('without end is cut', async () => {
    const url = await serve((_, response) => {
      response.setHeader('content-type', 'text/plain')
      const more = () => {
        while (response.writable && response.write('y'.repeat(65_536)));
        if (response.writable) response.once('drain', more)
      }
      more()
    })
    const bench = await setBench(local)
    const text = await bench.say('WebFetch', { url, offset: 5 * 1024 * 1024 - 10 })
    expect(text).toBe(`${'y'.repeat(10)}\n[The page is larger than 5 MB: the rest was not loaded.]`)
  })
})

test.each([
  ['http://a.org/x', 'http://a.org/y', undefined],
  ['http://a.org/x', 'https://a.org/x', undefined],
  ['https://a.org/x', 'http://a.org/x', 'an address without encryption'],
  ['http://a.org/x', 'http://b.a.org/x', 'another host'],
  ['http://a.org:8080/x', 'http://a.org/x', 'another host'],
])('a redirect from %s to %s', (from, to, why) => {
  expect(whyNotFollowed(new URL(from), new URL(to))).toBe(why)
})

describe('a redirect', () => {
  test('on the same host is followed, and not forever', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/end') response.setHeader('content-type', 'text/plain').end('Here.')
      else response.writeHead(302, { location: request.url === '/start' ? '/end' : '/ring' }).end()
    })
    const bench = await setBench(local)
    expect(await bench.say('WebFetch', { url: `${url}/start` })).toBe('Here.')
    expect(await bench.say('WebFetch', { url: `${url}/ring` })).toBe(`ERROR: ${url}/ring: more than 5 redirects.`)
  })

  test('to another host, port or protocol is reported instead', async () => {
    const places: Record<string, string> = {
      '/host': 'https://example.com/page',
      '/port': 'http://127.0.0.1:1/',
      '/file': 'file:///etc/passwd',
    }
    const url = await serve((request, response) =>
      response.writeHead(301, { location: places[request.url ?? ''] ?? '/' }).end(),
    )
    const bench = await setBench(local)
    expect(await bench.say('WebFetch', { url: `${url}/host` })).toBe(
      `ERROR: ${url}/host redirects (301) to another host. If that is what you want, call WebFetch with https://example.com/page`,
    )
    expect(await bench.say('WebFetch', { url: `${url}/port` })).toContain('to another host')
    expect(await bench.say('WebFetch', { url: `${url}/file` })).toContain(
      'Only http and https can be fetched, not file:',
    )
  })
})

describe('an address', () => {
  test('on this machine asks, even with a rule for everything', async () => {
    const url = await serve((_, response) => response.setHeader('content-type', 'text/plain').end('Inside.'))
    const bench = await setBench({ permissions: { allow: ['WebFetch'] } })
    expect(await bench.say('WebFetch', { url: url.replace('127.0.0.1', 'localhost') })).toBe('Inside.')
    expect(bench.asked).toMatchObject([
      { reason: 'the address is on this machine or a private network', rules: ['WebFetch(domain:localhost)'] },
    ])
    // The system writes such numbers as it likes.
    await bench.call('WebFetch', { url: url.replace('127.0.0.1', '0x7f.1') })
    expect(bench.asked).toHaveLength(2)
  })

  test.each([
    ['file:///etc/passwd', 'Only http and https can be fetched, not file:'],
    ['example', '"example" is not an address. Expected something like https://example.com/page.'],
    ['https://a:b@example.com', 'An address with a user name or password is not fetched.'],
    ['http://no-such-host.invalid/', 'The host no-such-host.invalid was not found.'],
  ])('%s is refused', async (url, why) => {
    const bench = await setBench()
    expect(await bench.say('WebFetch', { url })).toBe(`ERROR: ${why}`)
    expect(bench.asked).toEqual([])
  })
})
