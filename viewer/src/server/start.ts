// The server of `everlong view`: the page and the data of sessions, for one person on this machine.
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Environment } from 'everlong'
import type { Undone } from '../data/api.ts'
import { sendEvents } from './events.ts'
import { hasOwnHost, hasToken, safeHeaders } from './guard.ts'
import { createOverview, type OverviewBook } from './overview.ts'
import type { Page } from './page.ts'
import type { Question } from './reader.ts'
import { routeOf } from './routes.ts'
import { ReadError, startThread, type Thread } from './threads.ts'

export { exportSession } from './export-session.ts'
export { builtPage, type Page } from './page.ts'

export type ViewerOptions = {
  /** Transcripts, and folders that contain some. Nothing else is read. */
  readonly paths: readonly string[]
  /** 0 picks a free one. */
  readonly port: number
  readonly env: Environment
  readonly page: Page
  /** Shows numbers only, and nothing that was said. */
  readonly isContentHidden?: boolean
  /** Undoes a compaction, or its undo, in the session at this path. Returns why it could not. Default: nothing can be undone. */
  readonly undo?: Undo
  /** Default: random. */
  readonly token?: string
}

export type Undo = (path: string, uuid: string) => Promise<string | undefined>

export type Viewer = {
  readonly port: number
  readonly token: string
  /** With the token after the #, which browsers send to nobody. */
  readonly url: string
  readonly close: () => Promise<void>
}

type Running = {
  readonly threads: Threads
  readonly overview: OverviewBook
  readonly page: Page
  readonly token: string
  readonly port: number
  readonly undo: Undo | undefined
}

/**
 * One for the session on the page, one for what takes long to compute about it, one for the list and one for the search, so that
 * nobody waits for a message until something else has been computed.
 */
type Threads = Readonly<Record<'session' | 'analysis' | 'list' | 'search', Thread>>

export async function startViewer(options: ViewerOptions): Promise<Viewer> {
  const { page, token = randomBytes(24).toString('base64url') } = options
  const { env, isContentHidden = false } = options
  const input = { paths: options.paths.map((path) => resolve(path)), env, isContentHidden }
  const start = () => startThread(input)
  const threads = { session: start(), analysis: start(), list: start(), search: start() }
  const overview = createOverview(isContentHidden ? [] : input.paths, threads.list)
  const server = createServer()
  try {
    await new Promise<void>((listening, refused) => {
      server.once('error', refused)
      server.listen(options.port, '127.0.0.1', listening)
    })
  } catch (error) {
    await endAll(threads)
    throw error
  }
  const { port } = server.address() as AddressInfo
  const running = { threads, overview, page, token, port, undo: options.undo }
  server.on('request', (request, response) => {
    handle(request, response, running).catch((error: unknown) => fail(response, error))
  })
  return {
    port,
    token,
    url: `http://127.0.0.1:${port}/#token=${token}`,
    close: async () => {
      overview.stop()
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
      await endAll(threads)
    },
  }
}

async function endAll(threads: Threads): Promise<void> {
  await Promise.all(Object.values(threads).map(({ end }) => end()))
}

async function handle(request: IncomingMessage, response: ServerResponse, running: Running): Promise<void> {
  for (const [name, value] of Object.entries(safeHeaders)) response.setHeader(name, value)
  if (!hasOwnHost(request, running)) return refuse(response, 403, 'This server answers only to its own address.')
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const route = url.pathname.startsWith('/api/') ? routeOf(url) : undefined
  if (request.method !== (route?.type === 'undo' ? 'POST' : 'GET'))
    return refuse(response, 405, 'This is not the way to ask for it.')
  if (route === undefined) return sendPage(url.pathname, response, running.page)
  if (!hasToken(request, running)) {
    return refuse(response, 401, 'Open the address that `everlong view` printed: it has the token.')
  }
  switch (route.type) {
    case 'overview':
      return sendJson(response, JSON.stringify(await running.overview.overview(route.since)))
    case 'events':
      return openEvents(response, running, route.session)
    case 'question':
      return sendJson(response, await threadFor(route.question, running).ask(route.question))
    case 'undo':
      return undo(response, running, route)
    case 'unknown':
      return refuse(response, 404, 'There is nothing at this address.')
  }
}

type UndoAsked = { readonly session: string; readonly uuid: string }

/** Only what the page offers can be undone. */
async function undo(response: ServerResponse, { threads, undo }: Running, { session, uuid }: UndoAsked): Promise<void> {
  const known = await threads.session.ask({ type: 'undoable', session, uuid })
  if (known === undefined || undo === undefined)
    return refuse(response, 404, 'There is nothing here that could be undone.')
  const why = await undo((JSON.parse(known) as { readonly path: string }).path, uuid)
  if (why !== undefined) return refuse(response, 409, why)
  sendJson(response, JSON.stringify({ undone: uuid } satisfies Undone))
}

function threadFor({ type }: Question, { threads }: Running): Thread {
  switch (type) {
    case 'search':
      return threads.search
    case 'window':
    case 'lost':
    case 'agents':
    case 'compaction':
    case 'alternative':
      return threads.analysis
    default:
      return threads.session
  }
}

async function openEvents(response: ServerResponse, running: Running, session: string | undefined): Promise<void> {
  const known = session === undefined ? undefined : await running.threads.session.ask({ type: 'path', session })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const path = known === undefined ? undefined : (JSON.parse(known) as { readonly path: string }).path
  sendEvents(response, { overview: running.overview, path })
}

function sendPage(pathname: string, response: ServerResponse, page: Page): void {
  const file = page.get(pathname)
  // Addresses within the page are its own business.
  const found = file ?? (pathname.startsWith('/assets/') ? undefined : page.get('/index.html'))
  if (found === undefined) refuse(response, 404, 'There is nothing at this address.')
  else response.writeHead(200, { 'content-type': found.type }).end(found.bytes)
}

function sendJson(response: ServerResponse, json: string | undefined): void {
  if (json === undefined) refuse(response, 404, 'There is nothing at this address.')
  else response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(json)
}

function refuse(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify({ error }))
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const text = error instanceof Error ? error.message : String(error)
  refuse(response, error instanceof ReadError ? 410 : 500, text)
}
