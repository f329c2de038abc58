// Two tools for all MCP servers: ToolSearch finds tools and shows how they are called, McpCall calls one. So a hundred tools
// cost no tokens until they are needed, and the tool list, which caches depend on, stays as it is.
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { JsonObject } from 'everlong/internal'
import { z } from 'zod'
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '../tool.ts'
import { createOutput } from '../tools/bash/output.ts'
import { failed, guardedTool, type Kit, outputPath } from '../tools/kit.ts'
import { foundText, searchTools } from './search.ts'
import type { Server, ServerTool } from './servers.ts'

export type McpTools = {
  readonly tools: readonly AnyTool[]
  /** The tools found so far, one line each, for the context after a compaction. */
  readonly found: () => readonly string[]
}

export function mcpTools(kit: Kit, servers: readonly Server[]): McpTools {
  const found = new Map<string, string>()
  const names = servers.map(({ name }) => name).join(', ')
  const search = defineTool({
    name: 'ToolSearch',
    description: `Finds tools of the MCP servers (${names}) and shows how to call them. Without a query it lists their names. Call a tool with McpCall.`,
    input: z.object({
      query: z
        .string()
        .max(500)
        .optional()
        .describe('Words from the name or the description, or an exact name: mcp__server__tool.'),
      max_results: z.int().min(1).max(20).optional().describe('Default: 5.'),
    }),
    isParallel: true,
    run: async ({ query = '', max_results = 5 }) => {
      const { tools, problems } = await toolsOf(servers)
      const matches = searchTools(tools, query, max_results)
      for (const { name, tool } of matches)
        found.set(name, `${name}: ${(tool.description ?? '').split('\n', 1)[0]?.slice(0, 120) ?? ''}`)
      return kit.redactor.text(foundText({ servers, tools, matches, query, problems }))
    },
  })
  return { tools: [search, callTool(kit, servers)], found: () => [...found.values()] }
}

async function toolsOf(servers: readonly Server[]) {
  const answers = await Promise.all(servers.map((server) => server.tools()))
  const tools = answers.flatMap((answer) => ('why' in answer ? [] : answer))
  return { tools, problems: answers.flatMap((answer) => ('why' in answer ? [answer.why] : [])) }
}

function callTool(kit: Kit, servers: readonly Server[]): AnyTool {
  // Strict: arguments under another name would be dropped, and the tool called without them.
  const input = z.strictObject({
    tool: z.string().min(1).describe('The name that ToolSearch gave: mcp__server__tool.'),
    arguments: z.record(z.string(), z.unknown()).optional().describe("The tool's input, as its schema says."),
  })
  return guardedTool<z.infer<typeof input>>(kit, {
    name: 'McpCall',
    description: 'Calls a tool of an MCP server. Find the tool and its schema with ToolSearch first.',
    input,
    plan: async ({ tool: name, arguments: given = {} }, context) => {
      const found = await findTool(servers, name)
      if ('why' in found) return failed(found.why)
      const { server, tool } = found
      return {
        access: { type: 'call', tool: tool.name, isSafe: false },
        title: `Call ${server.name}: ${tool.tool.name}`,
        detail: { type: 'text', text: JSON.stringify(given, undefined, 2) },
        run: async () => {
          const called = await server.call(tool, given, context.signal)
          if (called.type === 'failed') return failed(kit.redactor.text(called.why))
          return resultOf(kit, called.result, context)
        },
      }
    },
  })
}

type FoundTools = { readonly server: Server; readonly tool: ServerTool } | { readonly why: string }

async function findTool(servers: readonly Server[], name: string): Promise<FoundTools> {
  // A server's name may be a prefix of another's.
  const candidates = servers.filter((server) => name.startsWith(`mcp__${server.name}__`))
  for (const server of candidates) {
    const tools = await server.tools()
    if ('why' in tools) return tools
    const tool = tools.find((each) => each.name === name)
    if (tool) return { server, tool }
  }
  const known = servers.map((server) => server.name).join(', ')
  return { why: `There is no tool ${name}. Look for it with ToolSearch. The servers are: ${known}.` }
}

/** Texts and images in the API's format. A long text goes to a file. */
function resultOf(kit: Kit, result: CallToolResult, context: ToolContext): ToolOutput {
  const path = outputPath(kit, context)
  const output = createOutput({ redactor: kit.redactor, path, onFull: () => undefined })
  const images: JsonObject[] = []
  for (const block of result.content ?? []) {
    if (block.type === 'image') {
      images.push({ type: 'image', source: { type: 'base64', media_type: block.mimeType, data: block.data } })
    } else output.add(`${textOf(block)}\n`)
  }
  if ((result.content ?? []).length === 0 && result.structuredContent !== undefined) {
    output.add(JSON.stringify(result.structuredContent, undefined, 2))
  }
  output.end()
  const text = output.take() || (images.length > 0 ? '' : '(no output)')
  const content = images.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text', text }]), ...images]
  return { content, ...(result.isError === true ? { isError: true } : {}) }
}

function textOf(block: CallToolResult['content'][number]): string {
  if (block.type === 'text') return block.text
  if (block.type === 'resource')
    return 'text' in block.resource ? block.resource.text : `[binary resource ${block.resource.uri}]`
  return block.type === 'resource_link' ? `[resource ${block.uri}: ${block.name}]` : `[${block.type} is not shown]`
}
