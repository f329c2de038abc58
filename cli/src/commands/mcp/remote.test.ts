// A client that starts a program talks to the MCP endpoint of a gateway.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { checkConfig, startGateway } from '@everlong/gateway'
import { expect, test } from 'vitest'
import { serveRemote } from './remote.ts'

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

/** The first answer to a request on standard input. */
async function answerTo(url: string, env: Readonly<Record<string, string>>) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const served = serveRemote(url, { stdin, stdout, stderr, env })
  stdin.write(`${JSON.stringify(list)}\n`)
  const [line] = (await new Promise<Buffer>((resolve) => stdout.once('data', resolve))).toString().split('\n')
  stdin.end()
  await served
  return JSON.parse(line ?? '')
}

test('with the key in the environment it gets the tools; without it, an error that says so', async () => {
  const data = mkdtempSync(join(tmpdir(), 'everlong-remote-'))
  const key = 'k'.repeat(32)
  const keys = [{ name: 'ann', tenant: 'acme', secrets: [key] }]
  const gateway = await startGateway(checkConfig({ listen: { port: 0 }, data, keys }, 'the test'), {
    write: () => undefined,
  })
  try {
    const { result } = await answerTo(gateway.url, { EVERLONG_GATEWAY_KEY: key })
    expect(result.tools.map(({ name }: { readonly name: string }) => name)).toEqual(['search', 'read'])
    const { error } = await answerTo(gateway.url, {})
    expect(error.message).toContain('The gateway cannot be used')
    expect(error.message).toContain('x-everlong-key')
  } finally {
    await gateway.close()
    rmSync(data, { recursive: true, force: true })
  }
})
