// Identifies the caller: the key in our own header names the tenant, and the call can reach only that tenant's sessions. Keys are
// compared by their digests.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Config, KeyConfig, Level } from './config/schema.ts'

/** The header that carries the key. Like every header that begins with `x-everlong-`, it is not forwarded. */
export const keyHeader = 'x-everlong-key'

export type Caller = {
  readonly tenant: string
  /** The name of the key, for logs and the books. */
  readonly key: string
  readonly level: Level
  readonly limits: NonNullable<KeyConfig['limits']>
}

export type Tenants = {
  /** Undefined if there are keys and the request has none of them. */
  readonly callerOf: (request: IncomingMessage) => Caller | undefined
  /** Whether the request may read data of all tenants. */
  readonly isAdmin: (request: IncomingMessage) => boolean
}

export function createTenants({ keys, adminSecrets, level }: Pick<Config, 'keys' | 'adminSecrets' | 'level'>): Tenants {
  const callers = new Map(
    keys.flatMap(({ secrets, ...key }) =>
      secrets.map((secret): [string, Caller] => [
        digest(secret),
        { tenant: key.tenant, key: key.name, level: key.level ?? level, limits: key.limits ?? {} },
      ]),
    ),
  )
  const admins = new Set(adminSecrets.map(digest))
  const everybody: Caller = { tenant: 'default', key: 'default', level, limits: {} }
  return {
    callerOf: (request) => {
      if (keys.length === 0) return everybody
      const given = request.headers[keyHeader]
      return typeof given === 'string' ? callers.get(digest(given)) : undefined
    },
    isAdmin: (request) => {
      if (keys.length === 0 && adminSecrets.length === 0) return true
      const given = request.headers[keyHeader] ?? bearer(request)
      return typeof given === 'string' && admins.has(digest(given))
    },
  }
}

/** Prometheus sends its credential this way. */
function bearer({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
