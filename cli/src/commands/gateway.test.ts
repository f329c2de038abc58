// The gateway through the command line, in front of the simulator.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningServer, startServer, text } from '@everlong/simulator'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { everlong, report } from '../testing/harness.ts'

let server: RunningServer
let folder: string
beforeAll(async () => {
  server = await startServer({ script: () => text('The heron is grey.'), port: 0 })
})
afterAll(() => server.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-gateway-cli-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function ask(url: string, words: string, more: Readonly<Record<string, string>> = {}) {
  const headers = { 'x-api-key': 'any', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' }
  const body = { model: 'claude-opus-5', max_tokens: 50, messages: [{ role: 'user', content: words }] }
  const init = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) }
  return (await fetch(`${url}/v1/messages`, init)).json()
}

/** A gateway at a time of the day, asked these words. */
async function served(words: readonly string[], now = 0): Promise<unknown[]> {
  const answers: unknown[] = []
  const options = ['--upstream', server.url, '--port', '0', '--data', folder, '--json']
  const { exitCode } = await everlong(['gateway', ...options], {
    now: () => now,
    meanwhile: async (printed) => {
      const { url } = JSON.parse(printed) as { readonly url: string }
      for (const said of words) answers.push(await ask(url, said))
    },
  })
  expect(exitCode).toBe(0)
  return answers
}

describe('everlong gateway', () => {
  test('prints its free port, passes a request on, and ends when it is stopped', async () => {
    let url = ''
    const answers: unknown[] = []
    const ran = await everlong(['gateway', '--upstream', server.url, '--port', '0', '--data', folder, '--json'], {
      meanwhile: async (printed) => {
        const told = JSON.parse(printed) as { readonly url: string; readonly port: number }
        url = told.url
        expect(told).toEqual({ url: `http://127.0.0.1:${told.port}`, port: expect.any(Number) })
        expect(told.port).toBeGreaterThan(0)
        answers.push(await ask(url, 'Which color is the heron?'))
      },
    })
    expect(ran.exitCode).toBe(0)
    expect(answers).toMatchObject([{ role: 'assistant', content: [{ type: 'text', text: 'The heron is grey.' }] }])
    await expect(ask(url, 'Are you still there?')).rejects.toThrow()
  })

  test('greets with its address, how clients find it, and where the transcripts are', async () => {
    const { stdout, stderr } = await everlong(['gateway', '--upstream', server.url, '--port', '0', '--data', folder])
    expect(stderr).toBe('')
    expect(
      stdout.replace(/:\d{4,5}\b/g, ':PORT').replaceAll(folder, 'DATA'),
    ).toBe(`Listening on http://127.0.0.1:PORT (level: observe)

Set one of these where your program runs, and leave its key as it is.

  Claude Code, Anthropic SDK  ANTHROPIC_BASE_URL=http://127.0.0.1:PORT
  Vercel AI SDK               ANTHROPIC_BASE_URL=http://127.0.0.1:PORT/v1
  OpenAI SDK                  OPENAI_BASE_URL=http://127.0.0.1:PORT/v1

The transcripts are in ${join('DATA', 'sessions')}

Press Ctrl-C to stop.
`)
  })

  test.each(['/proc/nope', '/proc/nope/deeper', '/dev/null/data'])(
    'with a data folder that cannot be made, says so and ends: %s',
    async (data) => {
      const { exitCode, stdout, stderr } = await everlong(['gateway', '--port', '0', '--data', data])
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).toContain(`everlong: data: ${data} cannot be the folder of the gateway: `)
    },
  )

  test('with keys, the greeting says that requests need one, and shows none', async () => {
    const secret = 'k'.repeat(32)
    const file = join(folder, 'gateway.yaml')
    writeFileSync(file, `level: manage\nkeys: [{ name: ann, tenant: acme, secrets: ["${secret}"] }]\n`)
    const { stdout } = await everlong(['gateway', '--config', file, '--port', '0', '--data', folder])
    expect(stdout).toContain('(level: manage)')
    expect(stdout).toContain('Requests also need a key of this gateway in the header x-everlong-key.')
    expect(stdout).not.toContain(secret)
  })

  test.each([
    ['levle: manage', 'cannot be used: levle: there is no such key. See docs/gateway.md for all keys.'],
    ['a: [', 'is not valid YAML: Flow sequence in block collection must be'],
    ['- one', 'must have keys and values, such as "level: observe".'],
  ])('refuses a broken configuration: %s', async (content, message) => {
    const file = join(folder, 'gateway.yaml')
    writeFileSync(file, content)
    const { exitCode, stdout, stderr } = await everlong(['gateway', '--config', file, '--port', '0'])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`everlong: ${file} ${message}`)
  })

  test('a configuration that is not there, an upstream that is no URL and a used port are clear errors', async () => {
    const missing = join(folder, 'none.yaml')
    const none = await everlong(['gateway', '--config', missing])
    expect(none).toEqual({ exitCode: 1, stdout: '', stderr: `everlong: ${missing} does not exist.\n` })
    const wrong = await everlong(['gateway', '--upstream', 'api.anthropic.com'])
    const why = '--upstream must be an http or https URL, such as https://api.anthropic.com.'
    expect(wrong).toEqual({ exitCode: 1, stdout: '', stderr: `everlong: ${why}\n` })
    const port = new URL(server.url).port
    const used = await everlong(['gateway', '--port', port, '--data', folder])
    expect([used.exitCode, used.stdout]).toEqual([1, ''])
    expect(used.stderr).toContain(`port ${port} is in use.`)
  })
})

describe('everlong gateway report', () => {
  test('says what was spent in the folder that is named, as JSON and as a screen', async () => {
    await served(['one', 'two'])
    const told = await report('gateway', 'report', '--data', folder)
    expect(told).toMatchObject({ requests: 2, failed: 0, unpriced: 0, own: { requests: 0 } })
    expect(told.cost).toBeGreaterThan(0)
    expect(told.tenants).toMatchObject([{ name: 'default', requests: 2, cost: told.cost }])
    expect(told.models).toMatchObject([{ name: 'claude-opus-5', requests: 2, cost: told.cost }])
    const { exitCode, stdout } = await everlong(['gateway', 'report', '--data', folder])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^ {2}requests +2\n {2}cost +<\$0\.01\n/)
  })

  test('only the last days and only one tenant, if asked', async () => {
    const day = 86_400_000
    await served(['long ago'], day)
    await served(['now', 'and again'], 10 * day)
    const counted = async (...words: readonly string[]) => {
      const run = ['gateway', 'report', '--data', folder, '--json', ...words]
      return JSON.parse((await everlong(run, { now: () => 10 * day })).stdout).requests
    }
    expect([await counted(), await counted('--days', '3'), await counted('--days', '9')]).toEqual([3, 2, 3])
    expect([await counted('--tenant', 'default'), await counted('--tenant', 'other')]).toEqual([3, 0])
  })

  test('a folder without books is a clear error', async () => {
    const { exitCode, stdout, stderr } = await everlong(['gateway', 'report', '--data', folder])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      `everlong: There are no books of a gateway in ${folder}. Name its folder with --data, or its file with --config.\n`,
    )
  })
})

test('the other commands read its transcripts', async () => {
  await served(['Which color is the heron?'])
  const found = await everlong(['recall', join(folder, 'sessions'), 'heron'], {
    env: { EVERLONG_CACHE_DIR: join(folder, 'cache') },
  })
  expect(found.exitCode).toBe(0)
  expect(found.stdout).toContain('Which color is the heron?')
})
