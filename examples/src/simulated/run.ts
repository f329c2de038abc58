// `npm run example -- NAME [WORDS…]`: runs an example against the simulator, so that it needs no key.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '@everlong/simulator'
import { scriptOf } from './models.ts'

export type Run = {
  readonly exitCode: number
  readonly lines: readonly string[]
  readonly stderr: string
  /** The models that were asked, in order. */
  readonly asked: readonly string[]
}

export type RunOptions = {
  readonly words?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Shows each piece of output as it comes. */
  readonly show?: (text: string) => void
}

export async function runExample(name: string, { words = [], env, show }: RunOptions = {}): Promise<Run> {
  const windows = { 'claude-sonnet-4-6': 60_000, 'gpt-5': 60_000 }
  const server = await startServer({ script: scriptOf(name), windows })
  try {
    const child = spawn(process.execPath, [fileOf(name), ...words], {
      env: { ...process.env, ...addressOf(name, server.url), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      show?.(text)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      show?.(text)
    })
    const [exitCode] = await once(child, 'close')
    const asked = server.simulator.log.entries.map(({ model }) => model)
    return { exitCode: exitCode ?? 1, lines: stdout.trimEnd().split('\n'), stderr, asked }
  } finally {
    await server.close()
  }
}

function fileOf(name: string): string {
  return join(import.meta.dirname, '..', `${name}.ts`)
}

/** Variables that point the SDKs to another address. The AI SDK expects the version in it. */
function addressOf(name: string, url: string): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: name === 'ai-sdk-chat' ? `${url}/v1` : url,
    ANTHROPIC_API_KEY: 'none',
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'none',
  }
}

if (process.argv[1] === import.meta.filename) {
  const [name = '', ...words] = process.argv.slice(2)
  if (existsSync(fileOf(name))) {
    process.exitCode = (await runExample(name, { words, show: (text) => process.stdout.write(text) })).exitCode
  } else {
    console.error(`There is no example "${name}". docs/examples.md lists them: npm run example -- host`)
    process.exitCode = 2
  }
}
