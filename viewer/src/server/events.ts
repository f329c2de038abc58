// Server-sent events: that a session grew, and that more is known about the list.
import { statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { OverviewBook } from './overview.ts'

export type EventSource = {
  readonly overview: OverviewBook
  /** Of the session on the page. */
  readonly path: string | undefined
}

/** A person notices no difference between this and less. */
const interval = 1_000

export function sendEvents(response: ServerResponse, { overview, path }: EventSource): void {
  const send = (event: string, data: object) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  let isNews = false
  const forget = overview.onChange(() => {
    isNews = true
  })
  let stamp = path === undefined ? '' : stampOf(path)
  send('hello', {})
  const timer = setInterval(() => {
    if (isNews) send('overview', {})
    isNews = false
    if (path === undefined) return
    const now = stampOf(path)
    if (now !== stamp) send('session', {})
    stamp = now
  }, interval)
  response.on('close', () => {
    clearInterval(timer)
    forget()
  })
}

/** Empty while the file is gone. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? `${stats.size} ${stats.mtimeMs}` : ''
}
