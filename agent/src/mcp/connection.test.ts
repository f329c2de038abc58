import { expect, test } from 'vitest'
import { connect } from './connection.ts'

/** A server over stdio that lists its three tools one by one. */
const paging = `
  const tools = ['one', 'two', 'three'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  const info = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    const at = Number(params?.cursor ?? 0)
    const page = { tools: [tools[at]], ...(at < 2 ? { nextCursor: String(at + 1) } : {}) }
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? info : page }))
  })
`

test('all pages of the list of tools are read', async () => {
  const server = { command: process.execPath, args: ['-e', paging] }
  const connection = await connect(server, { cwd: process.cwd() })
  expect(connection.tools().map(({ name }) => name)).toEqual(['one', 'two', 'three'])
  await connection.close()
})
