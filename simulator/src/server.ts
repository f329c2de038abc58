// The simulator on a local port, for clients that need a URL. Never listens on other interfaces.
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import type { SimulatorOptions } from './api/world.ts'
import { cutsSockets } from './faults/on-socket.ts'
import { type FaultPlan, withFaults } from './faults/with-faults.ts'
import { createSimulator, type Simulator } from './simulator.ts'

export type ServerOptions = SimulatorOptions & {
  /** 0 takes any free port. */
  readonly port?: number
  /** Faults by rule or at random. Faults that a request's header asks for need no plan. */
  readonly faults?: FaultPlan
}

export type RunningServer = {
  readonly port: number
  readonly url: string
  readonly simulator: Simulator
  readonly close: () => Promise<void>
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const simulator = createSimulator(options)
  const handler = cutsSockets(withFaults((request) => simulator.fetch(request), options.faults))
  const server = createAdaptorServer({
    // Served over HTTP/1 only, so what goes out is always Node's ServerResponse.
    fetch: (request, env) => handler(request, { outgoing: (env as HttpBindings).outgoing }),
    overrideGlobalObjects: false,
  })
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
