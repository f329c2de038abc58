import { estimateTokens } from 'everlong'
import { describe, expect, test } from 'vitest'
import { serveHttp } from '../testing/mcp-server.ts'
import { benches } from '../testing/with-bench.ts'

const setBench = benches()
const script = new URL('../testing/mcp-server.ts', import.meta.url).pathname
// Servers inherit few variables; with this one they start faster.
const { NODE_COMPILE_CACHE } = process.env
const env = { MINE: 'yes', ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) }
const counter = { command: process.execPath, args: [script, 'stdio'], env }
const allowed = { mcpServers: { counter }, permissions: { allow: ['mcp__counter'] } }

describe('tools of a server', () => {
  test('cost next to nothing until they are looked for: names first, then how to call one', async () => {
    const bench = await setBench(allowed)
    const definitions = bench.tools.tools.filter(({ name }) => name === 'ToolSearch' || name === 'McpCall')
    expect(definitions).toHaveLength(2)
    expect(estimateTokens(JSON.stringify(definitions.map(({ definition }) => definition)))).toBeLessThan(500)
    const names = await bench.say('ToolSearch', {})
    expect(names.split('\n').filter((line) => line.startsWith('mcp__counter__'))).toHaveLength(101)
    const found = await bench.say('ToolSearch', { query: 'add numbers' })
    expect(found).toMatch(
      /^About counter: Counts start at one\.\n\nmcp__counter__add_numbers\nAdds two numbers\.\nInput: \{.*"a":\{"type":"number"\}/s,
    )
    expect(await bench.say('ToolSearch', { query: 'select:mcp__counter__crash' })).toContain('Ends the server.')
    expect((await bench.say('ToolSearch', { query: 'widgets', max_results: 3 })).match(/^mcp__/gm)).toHaveLength(3)
    expect(await bench.say('ToolSearch', { query: 'zeppelin' })).toMatch(/^No tool matches "zeppelin"\./)
    expect(await bench.tools.state()).toEqual({
      mcpInstructions: [{ name: 'counter', text: 'Counts start at one.', isUsed: true }],
      deferredTools: expect.arrayContaining(['mcp__counter__add_numbers: Adds two numbers.']),
    })
  })

  test('are called, with permission by the name of the tool', async () => {
    const bench = await setBench({ mcpServers: { counter } })
    const call = { tool: 'mcp__counter__add_numbers', arguments: { a: 2, b: 3 } }
    expect(await bench.say('McpCall', call)).toBe('5')
    const misnamed = { tool: call.tool, input: { a: 2, b: 3 } }
    expect(await bench.say('McpCall', misnamed)).toBe(
      'ERROR: Invalid input: ✖ Unrecognized key: "input"\nThe keys are: tool, arguments.',
    )
    // Another mistake: the keys are right.
    expect(await bench.say('McpCall', { tool: 7 })).not.toContain('The keys are')
    expect(bench.asked).toEqual([
      {
        toolUseId: 'toolu_1',
        tool: 'McpCall',
        title: 'Call counter: add_numbers',
        detail: { type: 'text', text: '{\n  "a": 2,\n  "b": 3\n}' },
        rules: ['mcp__counter__add_numbers'],
      },
    ])
  })

  test('are denied by a rule for the tool or the server, and in plan mode', async () => {
    const bench = await setBench({
      ...allowed,
      permissions: { allow: ['mcp__counter__*'], deny: ['mcp__counter__fail'] },
    })
    expect(await bench.say('McpCall', { tool: 'mcp__counter__fail' })).toContain('the rule mcp__counter__fail')
    bench.setMode('plan')
    const call = { tool: 'mcp__counter__add_numbers', arguments: { a: 2, b: 3 } }
    expect(await bench.say('McpCall', call)).toContain('plan mode is on')
    bench.setMode('ask')
    expect(await bench.say('McpCall', call)).toBe('5')
  })

  test.each(['a__b', 'a_', '', 'a b', 'x'.repeat(65)])('are not used of a server called %j', async (name) => {
    await expect(setBench({ mcpServers: { [name]: counter } })).rejects.toThrow(
      `The name of the MCP server ${JSON.stringify(name)}: use letters, digits, "-" and single "_"`,
    )
  })

  test('fail in words: a wrong input, an error of theirs, an unknown name', async () => {
    const bench = await setBench(allowed)
    const add = { tool: 'mcp__counter__add_numbers', arguments: { a: 'x' } }
    expect(await bench.say('McpCall', add)).toMatch(/^ERROR: .*Invalid arguments/s)
    expect(await bench.say('McpCall', { tool: 'mcp__counter__fail' })).toBe('ERROR: It did not work.')
    expect(await bench.say('McpCall', { tool: 'mcp__counter__nope' })).toBe(
      'ERROR: There is no tool mcp__counter__nope. Look for it with ToolSearch. The servers are: counter.',
    )
  })

  test('that a server adds later are found', async () => {
    const bench = await setBench(allowed)
    expect(await bench.say('McpCall', { tool: 'mcp__counter__grown' })).toContain('There is no tool')
    expect(await bench.say('McpCall', { tool: 'mcp__counter__grow' })).toBe('Done.')
    await expect
      .poll(() => bench.say('ToolSearch', { query: 'mcp__counter__grown' }), { timeout: 20_000 })
      .toContain('Was added.')
    expect(await bench.say('McpCall', { tool: 'mcp__counter__grown' })).toBe('Here I am.')
  })

  test('return images as images, and a long text as a file', async () => {
    const bench = await setBench(allowed)
    const { content } = await bench.call('McpCall', { tool: 'mcp__counter__picture' })
    expect(content).toEqual([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }])
    const long = await bench.say('McpCall', { tool: 'mcp__counter__long' })
    expect(long).toMatch(/^\[110,00\d characters in 10,00\d lines\. The whole output is in /)
    expect(long.length).toBeLessThan(16_000)
  })
})

describe('a server', () => {
  test('gets its own environment and none of ours', async () => {
    const bench = await setBench({
      ...allowed,
      environment: { PATH: process.env.PATH, ANTHROPIC_API_KEY: 'sk-0123456789' },
    })
    const told = JSON.parse(await bench.say('McpCall', { tool: 'mcp__counter__who' }))
    expect(told).toMatchObject({ mine: 'yes', key: null })
  })

  test('gets the values that its settings give, also for variables that every server inherits', async () => {
    const own = { ...counter, env: { HOME: '/elsewhere' } }
    const bench = await setBench({ ...allowed, mcpServers: { counter: own } })
    const said = JSON.parse(await bench.say('McpCall', { tool: 'mcp__counter__who' }))
    expect(said).toMatchObject({ home: '/elsewhere', mine: null })
  })

  test('that crashes is a clear error, and is started again once', async () => {
    const bench = await setBench(allowed)
    const call = (tool: string, input = {}) => bench.say('McpCall', { tool: `mcp__counter__${tool}`, arguments: input })
    expect(await call('crash')).toBe(
      'ERROR: The MCP server counter has ended unexpectedly. It said: out of memory It is started again with the next call; repeat this one only if doing it twice does no harm.',
    )
    expect(await call('add_numbers', { a: 1, b: 1 })).toBe('2')
    expect(await call('crash')).toBe('ERROR: The MCP server counter has ended unexpectedly. It said: out of memory')
    expect(await call('add_numbers', { a: 1, b: 1 })).toBe(
      'ERROR: The MCP server counter has ended unexpectedly. It said: out of memory',
    )
  })

  test('that cannot be started is named, and the others work', async () => {
    const broken = { command: process.execPath, args: ['-e', 'console.error("no license"); process.exit(1)'] }
    const bench = await setBench({ mcpServers: { broken, counter }, permissions: { allow: ['mcp__counter'] } })
    const found = await bench.say('ToolSearch', { query: 'add' })
    expect(found).toMatch(/^The MCP server broken could not be started: .*no license/)
    expect(found).toContain('mcp__counter__add_numbers')
  })

  test('ends with the tools', async () => {
    const bench = await setBench(allowed)
    const { pid } = JSON.parse(await bench.say('McpCall', { tool: 'mcp__counter__who' }))
    await bench.tools.close()
    expect(() => process.kill(pid, 0)).toThrow()
  })

  test('over HTTP works the same, with its headers', async () => {
    const { url, headers, close } = await serveHttp()
    try {
      const web = { type: 'http', url, headers: { authorization: 'Bearer 0123456789' } } as const
      const bench = await setBench({ mcpServers: { web }, permissions: { allow: ['mcp__web'] } })
      expect(await bench.say('McpCall', { tool: 'mcp__web__add_numbers', arguments: { a: 2, b: 3 } })).toBe('5')
      expect(new Set(headers)).toEqual(new Set(['Bearer 0123456789']))
      await bench.tools.close()
    } finally {
      await close()
    }
  })
})
