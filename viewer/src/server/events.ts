// Server-sent events: that a session grew, and that more is known about the list.
import { statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { OverviewBook } from './overview.ts'

export type EventSource = {
  readonly overview: OverviewBook
  /** Of the session on the page; undefined if the page shows the list. */
  readonly path: string | undefined
}

/** A person notices no difference between this and less. */
const interval = 1_000

export function sendEvents(response: ServerResponse, { overview, path }: EventSource): void {
  const send = (event: string, data: object) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  const next = path === undefined ? newsOf(overview) : growthOf(path)
  send('hello', {})
  const timer = setInterval(() => {
    const event = next.event()
    if (event !== undefined) send(event, {})
  }, interval)
  response.on('close', () => {
    clearInterval(timer)
    next.stop()
  })
}

type Watch = { readonly event: () => string | undefined; readonly stop: () => void }

function newsOf(overview: OverviewBook): Watch {
  let isNews = false
  const stop = overview.onChange(() => {
    isNews = true
  })
  const event = () => {
    const found = isNews ? 'overview' : undefined
    isNews = false
    return found
  }
  return { event, stop }
}

function growthOf(path: string): Watch {
  let stamp = stampOf(path)
  const event = () => {
    const before = stamp
    stamp = stampOf(path)
    return stamp === before ? undefined : 'session'
  }
  return { event, stop: () => undefined }
}

/** Empty while the file is gone. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? `${stats.size} ${stats.mtimeMs}` : ''
}
