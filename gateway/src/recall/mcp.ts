// The MCP endpoint of the gateway: search and read over the stored sessions of the caller's own tenant.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createRecallTools, recallTools } from 'everlong/internal/node'
import { openArchive } from 'everlong/node'
import type { SessionStore } from 'everlong/stores'
import packageFacts from '../../package.json' with { type: 'json' }
import { recallServer } from './server.ts'
import { recallFrom } from './sessions.ts'

export type RecallRequest = {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly place: RecallPlace
}

/** The transcripts of the tenant: a folder, which has an index of its own, or a store. */
export type RecallPlace = { readonly folder: string } | { readonly store: SessionStore }

/** Every request is answered independently, so that any process can answer the next one. */
export async function answerRecall({ incoming, outgoing, place }: RecallRequest): Promise<void> {
  const { tools, close } = toolsOver(place)
  const server = recallServer(tools, packageFacts.version)
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true } as never)
  try {
    await server.connect(transport as never)
    await transport.handleRequest(incoming, outgoing)
    await new Promise((resolve) => (outgoing.writableEnded ? resolve(undefined) : outgoing.once('close', resolve)))
  } finally {
    await server.close()
    close()
  }
}

function toolsOver(place: RecallPlace) {
  if ('store' in place) return { tools: recallTools(recallFrom(place.store)), close: () => undefined }
  const archive = openArchive(place.folder)
  const { search, read } = createRecallTools({ archive })
  return { tools: [search, read], close: () => archive.close() }
}

/** A page in a browser must not reach a gateway on this machine that requires no key. */
export function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const { origin } = headers
  if (origin === undefined) return false
  return !URL.canParse(origin) || !['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname)
}
