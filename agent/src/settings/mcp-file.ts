// `.mcp.json`: the MCP servers of a project, which other agents read as well. Unusable entries are reported and do not prevent a
// start.
import { existsSync } from 'node:fs'
import type { Environment } from 'everlong'
import { isObject, objectAt } from 'everlong/internal'
import { readRegularFile } from '../files/regular-file.ts'
import { serverName, serverNameRule } from '../mcp/server-name.ts'
import { reasonOf } from '../reason-of.ts'
import { type McpServerSettings, maxSettingsBytes, mcpServer } from './schema.ts'

export type McpFile = {
  readonly servers: Readonly<Record<string, McpServerSettings>>
  /** In the form of the file, before variables are filled in. */
  readonly sources: Readonly<Record<string, unknown>>
  readonly problems: readonly string[]
}

export function readMcpFile(path: string, env: Environment): McpFile {
  const none = (...problems: readonly string[]) => ({ servers: {}, sources: {}, problems })
  if (!existsSync(path)) return none()
  const file = readRegularFile(path, maxSettingsBytes)
  if (file.type === 'unreadable') return none(`${path}: cannot be read: ${file.why}`)
  try {
    const listed = objectAt(JSON.parse(file.text), 'mcpServers') ?? {}
    const read = Object.entries(listed).map(([name, value]) => readServer(name, expanded(value, env)))
    return {
      servers: Object.fromEntries(read.flatMap((each) => ('why' in each ? [] : [[each.name, each.server]]))),
      sources: listed,
      problems: read.flatMap((each) => ('why' in each ? [`${path}: ${each.name}: ${each.why}`] : [])),
    }
  } catch (error) {
    return none(`${path}: ${reasonOf(error)}`)
  }
}

type Read =
  | { readonly name: string; readonly server: McpServerSettings }
  | { readonly name: string; readonly why: string }

const known = ['type', 'command', 'args', 'env', 'url', 'headers']

function readServer(name: string, value: unknown): Read {
  if (!serverName.test(name)) return { name, why: serverNameRule }
  if (!isObject(value)) return { name, why: 'it is not an object' }
  // Other agents know further fields.
  const own = Object.fromEntries(Object.entries(value).filter(([key]) => known.includes(key)))
  const read = mcpServer.safeParse('url' in own ? { type: 'http', ...own } : own)
  if (read.success) return { name, server: read.data }
  return { name, why: 'expected a "command", or a "url" with the type http or sse' }
}

/** `${NAME}` and `${NAME:-default}` in texts. */
function expanded(value: unknown, env: Environment): unknown {
  if (typeof value === 'string')
    return value.replace(
      /\$\{(\w+)(?::-([^}]*))?\}/g,
      (whole, name: string, usual?: string) => env[name] ?? usual ?? whole,
    )
  if (Array.isArray(value)) return value.map((each) => expanded(each, env))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expanded(each, env)]))
}
