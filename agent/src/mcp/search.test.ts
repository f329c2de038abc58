import { expect, test } from 'vitest'
import { foundText, searchTools } from './search.ts'
import type { Server } from './servers.ts'

const tools = Array.from({ length: 25 }, (_, at) => ({
  name: `mcp__a__tool_${at}`,
  server: 'a',
  tool: {
    name: `tool_${at}`,
    description: at === 24 ? 'Counts herons.' : '',
    inputSchema: { type: 'object' as const },
  },
}))
const found = (query: string, most = 5) => searchTools(tools, query, most).map(({ tool }) => tool.name)

test('of many tools that are named exactly, the first twenty are described', () => {
  const query = `select:${tools.map(({ name }) => name).join(',')}`
  expect(found(query)).toEqual(tools.slice(0, 20).map(({ tool }) => tool.name))
})

test('a word in a name counts more than one in a description, and the limit holds exactly', () => {
  expect(found('herons tool_3')).toEqual(['tool_3', 'tool_24'])
  expect(found('tool', 3)).toHaveLength(3)
  expect(found('tool', 25)).toHaveLength(25)
})

test('a tool that matches every word comes before one that matches a single word', () => {
  const named = (name: string) => ({ name, server: 'a', tool: { name, inputSchema: { type: 'object' as const } } })
  const branches = ['mcp__a__branch', 'mcp__a__create', 'mcp__git__create_branch'].map(named)
  expect(searchTools(branches, 'create branch', 1).map(({ name }) => name)).toEqual(['mcp__git__create_branch'])
})

test('only servers of the tools that were found have their say', () => {
  const server = (name: string) => ({ name, instructions: () => `Use ${name} with care.` }) as Server
  const matches = tools.slice(0, 1)
  const text = foundText({ servers: [server('a'), server('b')], tools, matches, query: 'tool_0', problems: [] })
  expect(text).toMatch(/^About a: Use a with care\.\n\nmcp__a__tool_0\n/)
  expect(text).not.toContain('Use b with care.')
})
