// `npm run test:terminal`: drives the agent in a pseudo-terminal, as a person would. Too slow for `npm test`, which runs a few.
import { join } from 'node:path'
import { root, runStep } from './steps.ts'

const config = join(root, 'vitest.terminal.config.ts')
const args = ['run', '--config', config, ...process.argv.slice(2)]
const script = join(root, 'node_modules/vitest/vitest.mjs')
process.exitCode = (await runStep({ name: 'terminal', script, args }, { show: true })) ? 0 : 1
