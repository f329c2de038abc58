// `everlong mcp FILE|DIR`: an MCP server over standard input and output, with the tools search and read over the archive of a
// session or a folder of them. Standard output carries only the protocol.

import { pipeline, type Readable, type Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { oneLine } from '@everlong/agent/render'
import { recallServer } from '@everlong/gateway/recall-server'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ErrorCode, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'
import { isObject } from 'everlong/internal'
import { createRecallTools } from 'everlong/internal/node'
import { type Archive, type ArchiveOptions, openArchive } from 'everlong/node'
import { expecting, gathered, type Outcome } from '../../outcome.ts'
import { boundedLines, type TooLong } from './lines.ts'

export type McpArguments = {
  /** A transcript, or a folder of them. */
  readonly path: string
  readonly version: string
  /** The folder of the index, and which transcripts belong to it. */
  readonly archive?: Pick<ArchiveOptions, 'folder' | 'includes'>
}

export type McpStreams = {
  readonly stdin: Readable
  readonly stdout: NodeJS.WritableStream
  /** Errors are reported here, in the client's log. */
  readonly stderr: NodeJS.WritableStream
}

/** No request about an archive is longer. The SDK's own limit is a little higher and would end the server. */
const maxRequestBytes = 8 << 20

/** Serves until the client goes away. */
export async function serve(options: McpArguments, streams: McpStreams): Promise<Outcome<'served'>> {
  // The client waits for an answer to its first message, so a large archive is indexed while it is already served.
  let archive: Archive | undefined
  const opened = expecting(options.path, () => {
    archive = openArchive(options.path, { ...options.archive, budgetMs: 0 })
    return gathered('served' as const)
  })
  if (archive !== undefined) await serveFrom(archive, options, streams)
  return opened
}

async function serveFrom(archive: Archive, options: McpArguments, streams: McpStreams): Promise<void> {
  const ended = new AbortController()
  if ('isTTY' in streams.stdin && streams.stdin.isTTY) {
    streams.stderr.write('everlong: serving over MCP. An agent starts this by itself; Ctrl-C ends it.\n')
  }
  try {
    const { search, read } = createRecallTools({ archive })
    const server = recallServer([search, read], options.version)
    const input = boundedLines({
      maxBytes: maxRequestBytes,
      onTooLong: (line) => refuse(line, streams),
      isWanted: (line) => isMessage(line, streams),
    })
    // If the input breaks off, this one closes, and the server with it.
    pipeline(streams.stdin, input, () => undefined)
    const closed = closing(server, input)
    await server.connect(new StdioServerTransport(input, streams.stdout as Writable))
    const indexing = indexInBackground(archive, ended.signal, streams)
    await closed
    ended.abort()
    await indexing
    await server.close()
  } finally {
    archive.close()
  }
}

/** The SDK's transport does not notice the end of its input, so the server would outlive its client. */
function closing(server: McpServer, stdin: Readable): Promise<void> {
  return new Promise((resolve) => {
    server.server.onclose = resolve
    stdin.once('end', resolve)
    stdin.once('close', resolve)
  })
}

/** Without an answer the client would wait forever. If the id of the request is unknown, only the log gets the error. */
function refuse({ bytes, id }: TooLong, { stdout, stderr }: McpStreams): void {
  const message = `The request is too long: ${bytes} bytes, where ${maxRequestBytes} are the most. Ask for less at once.`
  const error = { code: ErrorCode.InvalidRequest, message }
  if (id === undefined) stderr.write(`everlong: ${message}\n`)
  else stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`)
}

/** The SDK drops an invalid request, such as one with a list for `params`, and its client would wait forever. */
function isMessage(line: Buffer, { stdout }: McpStreams): boolean {
  const message = parsed(line.toString('utf8'))
  const id = isObject(message) && 'method' in message ? message.id : undefined
  if ((typeof id !== 'string' && typeof id !== 'number') || JSONRPCMessageSchema.safeParse(message).success) return true
  const error = {
    code: ErrorCode.InvalidRequest,
    message: 'This is not a valid JSON-RPC 2.0 request. If it has params, they must be an object.',
  }
  stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`)
  return false
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The transport reports it.
    return undefined
  }
}

/** Indexes in steps, so that requests are answered in between. A failure does not end the server: calls fail with the same error. */
async function indexInBackground(archive: Archive, signal: AbortSignal, { stderr }: McpStreams): Promise<void> {
  try {
    while (!signal.aborted && !archive.refresh({ budgetMs: 200 }).complete) await setImmediate()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    stderr.write(`everlong: the archive could not be indexed ahead of time: ${oneLine(why)}\n`)
  }
}
