// A database at an address that can be cut off, like a network. Not part of the package.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Cuttable = {
  readonly url: string
  /** Ends all connections, and accepts none until it is restored. */
  readonly cut: () => void
  readonly restore: () => void
  readonly close: () => Promise<void>
}

export async function cuttable(url: string): Promise<Cuttable> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((socket) => {
    if (isCut) return socket.destroy()
    const other = connect(Number(target.port), target.hostname)
    for (const one of [socket, other]) {
      sockets.add(one)
      one.on('error', () => undefined).on('close', () => sockets.delete(one))
    }
    socket.pipe(other).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = new URL(url)
  at.port = String((server.address() as AddressInfo).port)
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: at.href,
    cut,
    restore: () => {
      isCut = false
    },
    close: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
