// A server that stops right after it accepted a connection, in the same packet.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { StoreError } from '../../core/ports/session-store.ts'
import { connect } from './connection.ts'

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

const accepted = message('R', Buffer.alloc(4))
const ready = message('Z', Buffer.from('I'))
const stopping = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'))

test('a connection that breaks before its caller gets it fails the transaction, not the process', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.concat([accepted, ready, stopping])))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.on('uncaughtException', note)
  onTestFinished(() => void process.off('uncaughtException', note))

  const { port } = server.address() as AddressInfo
  const connection = connect({ url: `postgres://me@127.0.0.1:${port}/db` }, 1)
  const failure = await connection.transaction((query) => query('SELECT 1', [])).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(StoreError)
  expect(failure).toMatchObject({ reason: 'unavailable' })
  await connection.close()
  expect(uncaught).toEqual([])
})
