// Node's server below the app: its time limits, its port, and a stop that cuts off no answer.
import type { Server, ServerOptions } from 'node:http'
import type { Config } from '../config/schema.ts'
import type { InFlight } from './in-flight.ts'

export function serverOptions({ limits }: Pick<Config, 'limits'>): ServerOptions {
  const headersTimeout = Math.min(limits.requestMs, 30_000)
  return {
    ...{ requestTimeout: limits.requestMs, headersTimeout },
    // How often Node checks connections against these limits, which are exceeded by at most a quarter.
    connectionsCheckingInterval: Math.ceil(headersTimeout / 4),
    // Longer than the idle time of common load balancers, which could otherwise reuse a connection that is being closed.
    keepAliveTimeout: 75_000,
  }
}

export type Listening = Config['listen'] & { readonly inFlight: InFlight }

/** Returns the port. Answers are in flight until their last byte is sent. */
export function listen(server: Server, { host, port, inFlight }: Listening): Promise<number> {
  server.on('request', (_, response) => inFlight.add(new Promise((resolve) => response.once('close', resolve))))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

export type Closing = { readonly inFlight: InFlight; readonly limitMs: number }

/**
 * Waits for running answers up to the limit, then ends all connections. `server.close()` alone would cut answers, because Node
 * considers one finished before its last bytes are sent.
 */
export async function closeServer(server: Server, { inFlight, limitMs }: Closing): Promise<void> {
  const limit = Promise.withResolvers<void>()
  const timer = setTimeout(limit.resolve, limitMs)
  await Promise.race([inFlight.settled(), limit.promise])
  clearTimeout(timer)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
  // Answers that were ended just now reach the recorder a moment later.
  await inFlight.settled()
}
