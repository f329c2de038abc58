// Who may ask: only pages from this server, on this machine, with the token. Everything else is refused before it is looked at.
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export type Guard = { readonly port: number; readonly token: string }

/** A page of another site can reach this port under a name of its own, so the name must be ours. */
export function hasOwnHost({ headers }: Pick<IncomingMessage, 'headers'>, { port }: Pick<Guard, 'port'>): boolean {
  const own = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (!own.includes(headers.host ?? '')) return false
  return headers.origin === undefined || own.some((host) => headers.origin === `http://${host}`)
}

/** The token comes in a header, which no other page can make a browser send. */
export function hasToken({ headers }: Pick<IncomingMessage, 'headers'>, { token }: Pick<Guard, 'token'>): boolean {
  const given = Buffer.from(headers.authorization ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

/** Nothing but the page's own files runs or is fetched, whatever a transcript contains. */
export const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

export const safeHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}
