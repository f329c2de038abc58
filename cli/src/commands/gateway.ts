// `everlong gateway`
import { Command } from 'commander'
import { type Cli, reportCommand } from '../command.ts'
import { portNumber, wholeNumber } from '../option-values.ts'
import type { EraseOptions } from './gateway/erase.ts'
import type { ReportOptions } from './gateway/report.ts'
import type { GatewayOptions } from './gateway/serve.ts'

export function gatewayCommand({ io, show }: Cli): Command {
  const command = new Command('gateway').description('keep a transcript of every conversation that passes to a model')
  return command
    .enablePositionalOptions() // --data and --json after `report` are its own.
    .option('--json', 'print the address as JSON')
    .option('--upstream <url>', 'where all requests go (default: the APIs of Anthropic and OpenAI)')
    .option('--port <number>', 'the port to listen on; 0 picks a free one (default: 8787)', portNumber)
    .option('--data <folder>', 'where the transcripts are kept (default: everlong-gateway)')
    .option('--config <file>', 'a configuration in YAML: levels, keys, limits (docs/gateway.md)')
    .action(async (options: GatewayOptions) => {
      const { serve } = await import('./gateway/serve.ts')
      show(await serve(options, io), { ...options, render: () => [] })
    })
    .addCommand(
      reportCommand('report', 'show what requests cost, why the cache was missed, and whether the gateway pays')
        .option('--data <folder>', 'the folder of the gateway (default: everlong-gateway)')
        .option('--config <file>', 'its configuration, if it has one')
        .option('--tenant <name>', 'only this tenant')
        .option('--days <number>', 'only the last days', wholeNumber)
        .action(async (options: ReportOptions) => {
          const { gather, render } = await import('./gateway/report.ts')
          show(await gather(options, io), { ...options, render })
        }),
    )
    .addCommand(
      reportCommand('erase', 'remove everything that a gateway keeps of a user')
        .requiredOption('--tenant <name>', 'required: the tenant of the user')
        .requiredOption('--user <name>', 'required: the user, as requests name it (docs/gateway.md)')
        .option('--data <folder>', 'the folder of the gateway (default: everlong-gateway)')
        .option('--config <file>', 'its configuration, if it has one')
        .action(async (options: EraseOptions) => {
          const { gather, render } = await import('./gateway/erase.ts')
          show(await gather(options, io), { ...options, render })
        }),
    )
}
