// Requests that are wrong in themselves: each gets an answer, and the server keeps serving.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { serve } from './server.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-mcp-requests-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'session.jsonl')
writeFileSync(path, session().user('find the heron').text)

async function answersTo(requests: readonly unknown[]): Promise<readonly { readonly id: unknown }[]> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const archive = { folder: join(folder, 'index') }
  const served = serve({ path, version: '1', archive }, { stdin, stdout, stderr })
  const answers = text(stdout)
  const lines = requests.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  stdin.end(`${lines.join('\n')}\n`)
  await served
  stdout.end()
  return (await answers)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test('a request whose params are no object, or of another version, gets an error with its id', async () => {
  const wrong = [null, 5, [], 'x', true].map((params, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params }))
  const old = { jsonrpc: '1.0', id: 'old', method: 'ping' }
  const ping = { jsonrpc: '2.0', id: 'last', method: 'ping' }
  const answers = await answersTo(['{', 'null', { jsonrpc: '2.0' }, ...wrong, old, ping])
  const error = { code: -32600, message: expect.stringContaining('params') }
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  const refused = [0, 1, 2, 3, 4, 'old'].map((id) => ({ jsonrpc: '2.0', id, error }))
  expect(answers).toHaveLength(7)
  expect([0, 1, 2, 3, 4, 'old', 'last'].map((id) => byId.get(id))).toEqual([
    ...refused,
    { jsonrpc: '2.0', id: 'last', result: {} },
  ])
})
