// Raw sockets for attacks: sends bytes unchanged and returns everything received. Not part of the package.
import { connect, type Socket } from 'node:net'

export type Wire = {
  readonly socket: Socket
  /** Everything received until the connection is closed by the other side. */
  readonly received: Promise<string>
}

export function openWire(url: string): Wire {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  // A reset is one possible end of an attack.
  socket.on('error', () => undefined)
  return { socket, received: new Promise((resolve) => socket.once('close', () => resolve(text))) }
}

/** Sends these bytes, and returns what was received until the other side closed the connection. */
export function exchangeBytes(url: string, bytes: string | Buffer): Promise<string> {
  const { socket, received } = openWire(url)
  socket.once('end', () => socket.destroy())
  socket.write(bytes)
  return received
}

/** The status of each answer. */
export function statusesIn(received: string): readonly number[] {
  return [...received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))
}
