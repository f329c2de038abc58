import { expect, test } from 'vitest'
import { connect } from './connection.ts'

/** A server over stdio that answers with the page `page(at, cursor)`, where `at` counts the pages. */
const serving = (page: string) => `
  const tool = (name) => ({ name, inputSchema: { type: 'object' } })
  const page = ${page}
  let at = 0
  const info = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const result = method === 'initialize' ? info : page(at++, params?.cursor)
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
`

async function toolsOf(page: string): Promise<readonly string[]> {
  const server = { command: process.execPath, args: ['-e', serving(page)] }
  const connection = await connect(server, { cwd: process.cwd() })
  await connection.close()
  return connection.tools().map(({ name }) => name)
}

test('all pages of the list of tools are read, in the order of their cursors', async () => {
  const page = `(_, cursor = '0') => ({ tools: [tool('t' + cursor)], ...(cursor < 2 ? { nextCursor: String(Number(cursor) + 1) } : {}) })`
  expect(await toolsOf(page)).toEqual(['t0', 't1', 't2'])
})

test('of a list of tools, the first 1,000 count, on one page or on several', async () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `t${at}`)
  const all = `Array.from({ length: 1500 }, (_, n) => tool('t' + n))`
  expect(await toolsOf(`() => ({ tools: ${all} })`)).toEqual(names)
  expect(await toolsOf(`(at) => ({ tools: ${all}.slice(at * 999, at * 999 + 999), nextCursor: String(at) })`)).toEqual(
    names,
  )
})

test.each([
  ['an empty cursor, again and again', `() => ({ tools: [], nextCursor: '' })`, 'the cursor "" comes twice'],
  ['two in turn', `(at) => ({ tools: [], nextCursor: 'ab'[at % 2] })`, 'the cursor "a" comes twice'],
  ['new ones without end', `(at) => ({ tools: [], nextCursor: 'c' + at })`, 'it has more than 100 pages'],
])('a list of tools that does not end is an error: %s', async (_, page, why) => {
  await expect(toolsOf(page)).rejects.toThrow(`The list of its tools does not end: ${why}.`)
})

test('a list of exactly 100 pages is read', async () => {
  const page = `(at) => ({ tools: [tool('t' + at)], ...(at < 99 ? { nextCursor: 'c' + at } : {}) })`
  expect(await toolsOf(page)).toHaveLength(100)
})
