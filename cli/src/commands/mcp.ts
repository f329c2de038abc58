// `everlong mcp`
import { Command } from 'commander'
import packageFacts from '../../package.json' with { type: 'json' }
import type { Cli } from '../command.ts'

export function mcpCommand({ io, show }: Cli): Command {
  return new Command('mcp')
    .description('serve search and read over MCP on stdin and stdout')
    .argument('<path>', 'a transcript, or a folder that contains some')
    .action(async (path: string) => {
      const { serve } = await import('./mcp/server.ts')
      show(await serve({ path, version: packageFacts.version }, io), { render: () => [] })
    })
}
