// Faults over a real socket: turns the signal of a cut connection into a socket that is destroyed. For Node servers;
// made for the `fetch` of Hono's adaptor, and knows nothing of it but the second argument.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Bytes, streamOf } from './body.ts'
import { FaultSignal } from './fault.ts'
import type { Handler } from './with-faults.ts'

/** The part of Node's ServerResponse that is needed. */
export type Outgoing = {
  readonly writableLength: number
  readonly destroyed: boolean
  destroy(): unknown
}

/** Maximum turns of the event loop for sending written bytes before the cut. */
const maxFlush = 1_000

/** Without this, a server would answer `cut-before` with a 500, and lose bytes that it wrote before a later cut. */
export function cutsSockets(
  handler: Handler,
): (request: Request, at: { readonly outgoing: Outgoing }) => Promise<Response> {
  return async (request, { outgoing }) => {
    try {
      const response = await handler(request)
      if (!response.body) return response
      const { status, statusText, headers } = response
      const body = streamOf(cuttingBody(response.body, outgoing), () => undefined)
      return new Response(body, { status, statusText, headers })
    } catch (error) {
      if (!(error instanceof FaultSignal)) throw error
      outgoing.destroy()
      return new Response(null)
    }
  }
}

async function* cuttingBody(body: Bytes, outgoing: Outgoing): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    if (!(error instanceof FaultSignal)) throw error
    // Destroying a socket discards unsent bytes, but the bytes before a cut must arrive.
    for (let turn = 0; turn < maxFlush && outgoing.writableLength > 0 && !outgoing.destroyed; turn++) await nextTurn()
    outgoing.destroy()
  }
}
