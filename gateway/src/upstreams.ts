// Chooses the upstream of a request among those in the configuration. A request can select one only by its name, never by a URL.
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Config } from './config/schema.ts'

export type Upstream = {
  readonly name: string
  readonly origin: URL
  /** Opens a request. Connections are reused. */
  readonly request: typeof httpRequest
  readonly agent: HttpAgent | HttpsAgent
}

export type Route = {
  readonly upstream: Upstream
  /** The path for the upstream, with its query. */
  readonly path: string
  /** The path that identifies the API: `/v1/messages`. */
  readonly api: string
}

export type Upstreams = {
  /** Undefined if the path is not forwarded. */
  readonly routeOf: (target: string, isMessagesApi: boolean) => Route | undefined
  readonly close: () => void
}

export function createUpstreams({
  upstreams,
  defaultUpstreams,
}: Pick<Config, 'upstreams' | 'defaultUpstreams'>): Upstreams {
  const byName = new Map(Object.entries(upstreams).map(([name, { url }]) => [name, connectionTo(name, new URL(url))]))
  return {
    routeOf: (target, isMessagesApi) => {
      const parsed = readTarget(target)
      if (!parsed) return undefined
      const [, first = ''] = parsed.pathname.split('/')
      const named = byName.get(first)
      const pathname = named ? parsed.pathname.slice(first.length + 1) : parsed.pathname
      const isOpenAi = /^\/v1\/(chat\/|responses|completions|embeddings)/.test(pathname) || !isMessagesApi
      const upstream = named ?? byName.get(isOpenAi ? defaultUpstreams.openai : defaultUpstreams.messages)
      if (!upstream || !pathname.startsWith('/')) return undefined
      const base = upstream.origin.pathname.replace(/\/$/, '')
      return { upstream, path: `${base}${pathname}${parsed.search}`, api: pathname }
    },
    close: () => {
      for (const { agent } of byName.values()) agent.destroy()
    },
  }
}

function connectionTo(name: string, origin: URL): Upstream {
  const options = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }
  return origin.protocol === 'https:'
    ? { name, origin, request: httpsRequest, agent: new HttpsAgent(options) }
    : { name, origin, request: httpRequest, agent: new HttpAgent(options) }
}

/**
 * Only a plain path: no host (`http://other/`, `//other/`, also after the name of an upstream), no way up (`..`, also encoded),
 * no backslash. It must mean the same here and at the upstream.
 */
function readTarget(target: string): { readonly pathname: string; readonly search: string } | undefined {
  const at = target.indexOf('?')
  const pathname = at < 0 ? target : target.slice(0, at)
  const isPlain = /^\/[\w\-.~!$&'()*+,;=:@%/]*$/.test(pathname) && !pathname.includes('//')
  const hasWayUp = /(^|\/)(\.|%2e){1,2}(\/|$)/i.test(pathname) || /%(2f|5c|00)/i.test(pathname)
  return isPlain && !hasWayUp ? { pathname, search: at < 0 ? '' : target.slice(at) } : undefined
}
