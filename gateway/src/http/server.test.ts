// Stopping a server while its answers are on their way.
import { createServer, type RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { createInFlight } from './in-flight.ts'
import { closeServer, listen } from './server.ts'

async function serving(handle: RequestListener) {
  const inFlight = createInFlight()
  const server = createServer(handle)
  const port = await listen(server, { host: '127.0.0.1', port: 0, inFlight })
  return { url: `http://127.0.0.1:${port}`, close: (limitMs: number) => closeServer(server, { inFlight, limitMs }) }
}

test('an answer arrives to its last byte, also if the server has ended it and the client reads late', async () => {
  // More than the sockets of the system hold.
  const size = 40 << 20
  const { url, close } = await serving((_, outgoing) => void outgoing.end(Buffer.alloc(size)))
  const response = await fetch(url)
  const closing = close(30_000)
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect((await response.arrayBuffer()).byteLength).toBe(size)
  await closing
})

test('at the limit an answer is cut off, and idle connections do not make a stop wait', async () => {
  const { url, close } = await serving(({ url: path }, outgoing) => {
    outgoing.write('begun')
    if (path !== '/endless') outgoing.end()
  })
  await (await fetch(url)).text()
  const start = performance.now()
  const response = await fetch(`${url}/endless`)
  const read = response.text()
  await Promise.all([expect(read).rejects.toThrow(), close(100)])
  // Timers may fire a millisecond early.
  expect(performance.now() - start).toBeGreaterThanOrEqual(99)
  await expect(fetch(url)).rejects.toThrow()

  const idle = await serving((_, outgoing) => void outgoing.end('done'))
  await (await fetch(idle.url)).text()
  await idle.close(2 ** 31 - 1)
})
