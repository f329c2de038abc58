// The promise behind FaultSignal: a client cannot tell a handler given as its fetch from a server on a socket.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Fault } from './fault.ts'
import { cutsSockets } from './on-socket.ts'
import { withFaults } from './with-faults.ts'

const events = Array.from({ length: 20 }, (_, index) => `event: ping\ndata: {"index":${index}}\n\n`)
const handler = withFaults(() => {
  const parts = events.map((event) => new TextEncoder().encode(event))
  return new Response(ReadableStream.from(parts), { headers: { 'content-type': 'text/event-stream' } })
})

const onSocket = cutsSockets(handler)

/** Writes as fast as it can, like Hono's adaptor: nothing here waits for bytes to leave. */
const server: Server = createServer(async (incoming, outgoing) => {
  const headers = { 'x-everlong-fault': String(incoming.headers['x-everlong-fault']) }
  const response = await onSocket(new Request('http://simulator/', { headers }), { outgoing })
  if (outgoing.destroyed) return
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  for await (const chunk of response.body ?? []) outgoing.write(chunk)
  outgoing.end()
})

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => server.close())

async function seen(call: () => Promise<Response>): Promise<unknown> {
  let text = ''
  let status: number | undefined
  const decoder = new TextDecoder()
  try {
    const response = await call()
    status = response.status
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
    return { status, text }
  } catch (error) {
    const isTypeError = error instanceof TypeError
    const { message, cause } = error as Error & { cause?: { code: string; message: string } }
    return { status, text, isTypeError, message, cause: `${cause?.code} ${cause?.message}` }
  }
}

test.each<Fault['type']>(['cut-before', 'cut-during', 'cut-after', 'truncate', 'split', 'overloaded', 'rate-limit'])(
  '%s looks the same over a socket',
  async (type) => {
    const headers = { 'x-everlong-fault': type }
    const { port } = server.address() as AddressInfo
    const direct = await seen(() => handler(new Request('http://simulator/', { headers })))
    const socket = await seen(() => fetch(`http://127.0.0.1:${port}/`, { headers }))
    expect(withoutIds(socket)).toEqual(withoutIds(direct))
  },
)

const withoutIds = (value: unknown) => JSON.stringify(value).replaceAll(/req_[0-9a-z]+/g, 'req')
