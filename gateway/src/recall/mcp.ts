// The MCP endpoint of the gateway: search and read over the stored sessions of the caller's tenant, and of nobody else.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createRecallTools } from 'everlong/internal/node'
import { openArchive } from 'everlong/node'
import packageFacts from '../../package.json' with { type: 'json' }
import { recallServer } from './server.ts'

export type RecallRequest = {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** The transcripts of the tenant. */
  readonly folder: string
}

/** Every request is answered by itself, so that any process can answer the next one. */
export async function answerRecall({ incoming, outgoing, folder }: RecallRequest): Promise<void> {
  const archive = openArchive(folder)
  const { search, read } = createRecallTools({ archive })
  const server = recallServer([search, read], packageFacts.version)
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true } as never)
  try {
    await server.connect(transport as never)
    await transport.handleRequest(incoming, outgoing)
    await new Promise((resolve) => (outgoing.writableEnded ? resolve(undefined) : outgoing.once('close', resolve)))
  } finally {
    await server.close()
    archive.close()
  }
}

/** A page in a browser must not reach a gateway on this machine that asks for no key. */
export function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const { origin } = headers
  if (origin === undefined) return false
  return !URL.canParse(origin) || !['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname)
}
