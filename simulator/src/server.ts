// The simulator behind a port of this machine, for clients that want a URL. Never listens to the outside.
import { createAdaptorServer } from '@hono/node-server'
import type { SimulatorOptions } from './api/world.ts'
import { createSimulator, type Simulator } from './simulator.ts'

export type ServerOptions = SimulatorOptions & {
  /** 0 takes any free port. */
  readonly port?: number
  /** Around the simulator's own handler: for faults. */
  readonly wrap?: (handler: (request: Request) => Promise<Response>) => (request: Request) => Promise<Response>
}

export type RunningServer = {
  readonly port: number
  readonly url: string
  readonly simulator: Simulator
  readonly close: () => Promise<void>
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const simulator = createSimulator(options)
  const own = (request: Request) => simulator.fetch(request)
  const handler = options.wrap === undefined ? own : options.wrap(own)
  const server = createAdaptorServer({ fetch: handler, overrideGlobalObjects: false })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    simulator,
    close: () =>
      new Promise((resolve, reject) => {
        if ('closeAllConnections' in server) server.closeAllConnections()
        server.close((error) => (error ? reject(error) : resolve()))
      }),
  }
}
