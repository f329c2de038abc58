// `everlong simulate`
import type { Command } from 'commander'
import { type Cli, reportCommand } from '../command.ts'
import { overflow, overflows, portNumber, tokens, wholeNumber } from '../option-values.ts'
import type { SimulateOptions } from './simulate/server.ts'

export function simulateCommand({ io, show }: Cli): Command {
  return reportCommand('simulate', 'serve a simulated Messages API on this machine')
    .option('--port <number>', 'the port to listen on; 0 picks a free one', portNumber, 8080)
    .option('--seed <number>', 'the seed of the scripted agent', wholeNumber, 1)
    .option('--window <tokens>', 'the context window of every model', tokens)
    .option('--overflow <shape>', `the wording of overflow errors: ${overflows.join(', ')}`, overflow)
    .action(async (options: SimulateOptions) => {
      const { simulate, render } = await import('./simulate/server.ts')
      show(await simulate(options, io), { ...options, render })
    })
}
