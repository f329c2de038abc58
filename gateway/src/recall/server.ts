// Search and read over MCP, for the archive of one person or of one tenant.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { SlowRecallTool } from 'everlong/internal/node'
import type { RecallTool } from 'everlong/node'

const instructions =
  'The archive of an agent session: everything that was said, read and done in it, also what its context no longer holds. Use search to find, then read with the id of a card.'

export function recallServer(tools: readonly (RecallTool | SlowRecallTool)[], version: string): McpServer {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const server = new McpServer({ name: 'everlong', version }, { capabilities: { tools: {} }, instructions })
  // The handlers below it, not `registerTool`: the schemas are ours and plain JSON, where that one wants zod's.
  server.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, input_schema }) => ({
      name,
      description,
      inputSchema: {
        ...input_schema,
        properties: { ...input_schema.properties },
        required: [...(input_schema.required ?? [])],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })),
  }))
  server.server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const output = await byName.get(params.name)?.run(params.arguments ?? {})
    const { text, isError } = output ?? { text: `There is no tool ${params.name}.`, isError: true }
    return { content: [{ type: 'text', text }], isError }
  })
  return server
}
