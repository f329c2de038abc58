// `everlong gateway`: serves until it is stopped, then finishes running answers.
import { join, resolve } from 'node:path'
import { type Config, ConfigError, loadConfig, startGateway } from '@everlong/gateway'
import { StoreError } from 'everlong'
import type { Io } from '../../io.ts'
import { failed, gathered, type Outcome, portTrouble, systemTrouble } from '../../outcome.ts'

export type GatewayOptions = {
  readonly upstream?: string
  readonly port?: number
  readonly data?: string
  readonly config?: string
  readonly json?: boolean
}

export async function serve(options: GatewayOptions, io: Io): Promise<Outcome<object>> {
  const { config: path, json: _, ...overrides } = options
  let port = options.port ?? 0
  try {
    const config = loadConfig(path === undefined ? undefined : resolve(io.cwd, path), overrides, io.env)
    port = config.listen.port
    const data = resolve(io.cwd, config.data)
    const gateway = await startGateway({ ...config, data }, { write: (line) => io.stderr.write(line), now: io.now })
    try {
      // Listens first, because a reader of the greeting may stop it at once.
      const stopped = io.untilStopped?.()
      io.stdout.write(
        options.json
          ? `${JSON.stringify({ port: gateway.port, url: gateway.url })}\n`
          : greeting(gateway.url, { ...config, data }),
      )
      await stopped
    } finally {
      await gateway.close()
    }
    return gathered({})
  } catch (error) {
    if (error instanceof ConfigError || error instanceof StoreError) return failed(error.message)
    const message = portTrouble(port, error) ?? systemTrouble(`port ${port}`, error)
    if (message === undefined) throw error
    return failed(message)
  }
}

function greeting(url: string, { data, level, keys, store }: Config): string {
  return [
    `Listening on ${url} (level: ${level})`,
    '',
    'Set one of these where your program runs, and leave its key as it is.',
    ...(keys.length > 0 ? ['Requests also need a key of this gateway in the header x-everlong-key.'] : []),
    '',
    `  Claude Code, Anthropic SDK  ANTHROPIC_BASE_URL=${url}`,
    `  Vercel AI SDK               ANTHROPIC_BASE_URL=${url}/v1`,
    `  OpenAI SDK                  OPENAI_BASE_URL=${url}/v1`,
    '',
    store
      ? `The sessions are in PostgreSQL, in the schema ${store.schema}`
      : `The transcripts are in ${join(data, 'sessions')}`,
    '',
    'Press Ctrl-C to stop.',
    '',
  ].join('\n')
}
