// A gateway in a process of its own, for the scenario of many. Prints its address, and stops on SIGTERM.
import { writeSync } from 'node:fs'
import { checkConfig } from '../config/load.ts'
import { startGateway } from '../gateway.ts'

const gateway = await startGateway(checkConfig(JSON.parse(process.argv[2] ?? ''), 'the scenario'), {
  write: (line) => void process.stderr.write(line),
})
writeSync(1, `${JSON.stringify({ url: gateway.url })}\n`)
process.once('SIGTERM', () => void gateway.close().then(() => process.exit(0)))
// A test run that was killed leaves no gateways.
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit(1)
}, 1_000).unref()
