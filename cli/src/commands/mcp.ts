// `everlong mcp`
import { Command } from 'commander'
import packageFacts from '../../package.json' with { type: 'json' }
import type { Cli } from '../command.ts'

export function mcpCommand({ io, show }: Cli): Command {
  return new Command('mcp')
    .description('serve search and read over MCP on stdin and stdout')
    .argument('<path>', 'a transcript, a folder that contains some, or the URL of a gateway')
    .action(async (path: string) => {
      if (/^https?:/.test(path)) {
        const { serveRemote } = await import('./mcp/remote.ts')
        show(await serveRemote(path, io), { render: () => [] })
        return
      }
      const { serve } = await import('./mcp/server.ts')
      show(await serve({ path, version: packageFacts.version }, io), { render: () => [] })
    })
}
