// Reads the configuration file: YAML, with secrets from the environment (${NAME}) or from files (${file:/path}). Reports all
// problems in one message with their places in the file.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import type { z } from 'zod'
import { type Config, configSchema } from './schema.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The configuration cannot be used. The message is for the operator and contains no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Options of the command line that override the file. */
export type Overrides = {
  readonly port?: number
  readonly data?: string
  /** One upstream for everything. */
  readonly upstream?: string
}

export function loadConfig(path: string | undefined, overrides: Overrides, environment: Environment): Config {
  const given = path === undefined ? {} : readConfig(path, environment)
  const { port, data, upstream } = overrides
  if (upstream !== undefined && !/^https?:\/\/./.test(upstream)) {
    throw new ConfigError('--upstream must be an http or https URL, such as https://api.anthropic.com.')
  }
  const merged = {
    ...given,
    ...(port === undefined ? {} : { listen: { ...asObject(given.listen), port } }),
    ...(data === undefined ? {} : { data }),
    ...(upstream === undefined ? {} : oneUpstream(upstream)),
  }
  return checkConfig(merged, path ?? 'the command line')
}

function oneUpstream(url: string) {
  return { upstreams: { upstream: { url } }, defaultUpstreams: { messages: 'upstream', openai: 'upstream' } }
}

function readConfig(path: string, environment: Environment): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) throw new ConfigError(`${path} does not exist.`)
    throw new ConfigError(`${path} cannot be read: ${messageOf(error)}`)
  }
  const document = parseDocument(text)
  const [problem] = document.errors
  if (problem) throw new ConfigError(`${path} is not valid YAML: ${problem.message.split('\n')[0]?.replace(/:$/, '.')}`)
  const value: unknown = document.toJS() ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new ConfigError(`${path} must have keys and values, such as "level: observe".`)
  }
  return withSecrets(value, { folder: dirname(path), environment, at: '' }) as Record<string, unknown>
}

/** Throws a ConfigError that names every problem. */
export function checkConfig(value: unknown, where: string): Config {
  const result = configSchema.safeParse(value)
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `  ${problemText(issue)}`)
    throw new ConfigError(`${where} cannot be used:\n${problems.join('\n')}`)
  }
  const problems = [...unknownUpstreams(result.data), ...repeatedSecrets(result.data)]
  if (problems.length > 0)
    throw new ConfigError(`${where} cannot be used:\n${problems.map((one) => `  ${one}`).join('\n')}`)
  return result.data
}

/** Omits values, because they may be secrets. */
function problemText(issue: z.core.$ZodIssue): string {
  const at = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((name) => (at === '' ? name : `${at}.${name}`)).join(', ')
    return `${names}: there is no such key. See docs/gateway.md for all keys.`
  }
  return `${at || 'the file'}: ${issue.message}`
}

function unknownUpstreams({ upstreams, defaultUpstreams }: Config): readonly string[] {
  return Object.entries(defaultUpstreams)
    .filter(([, name]) => !Object.hasOwn(upstreams, name))
    .map(
      ([api, name]) =>
        `defaultUpstreams.${api}: there is no upstream "${name}". Upstreams: ${Object.keys(upstreams).join(', ') || 'none'}.`,
    )
}

function repeatedSecrets({ keys }: Config): readonly string[] {
  const owners = new Map<string, string>()
  return keys.flatMap(({ name, secrets }) =>
    secrets.flatMap((secret) => {
      const other = owners.get(secret)
      owners.set(secret, name)
      return other === undefined || other === name ? [] : [`keys: "${other}" and "${name}" have the same secret.`]
    }),
  )
}

type Place = { readonly folder: string; readonly environment: Environment; readonly at: string }

function withSecrets(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return filledIn(value, place)
  const below = (name: string | number) => ({ ...place, at: place.at === '' ? `${name}` : `${place.at}.${name}` })
  if (Array.isArray(value)) return value.map((item, at) => withSecrets(item, below(at)))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withSecrets(item, below(name))]))
}

/** `${ANTHROPIC_URL}` and `${file:/run/secrets/key}`, a path from the folder of the configuration. */
function filledIn(text: string, { folder, environment, at }: Place): string {
  return text.replace(/\$\{([^}]*)\}/g, (_, name: string) => {
    if (name.startsWith('file:')) {
      try {
        return readFileSync(resolve(folder, name.slice('file:'.length)), 'utf8').trim()
      } catch (error) {
        throw new ConfigError(`${at}: the file of a secret cannot be read: ${messageOf(error)}`)
      }
    }
    const value = environment[name]
    if (value === undefined) throw new ConfigError(`${at}: the environment variable ${name} is not set.`)
    return value
  })
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
