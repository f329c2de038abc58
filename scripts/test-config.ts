// Runs the tests of one Vitest configuration: those that are too slow for `npm test`. `npm run test:terminal` drives the agent in a
// pseudo-terminal, as a person would; `npm run test:adapters` takes the adapters through 200 turns; `npm run test:browser` looks at
// sessions in a browser.
import { join } from 'node:path'
import { root, runStep } from './steps.ts'

const [name = '', ...words] = process.argv.slice(2)
const args = ['run', '--config', join(root, `vitest.${name}.config.ts`), ...words]
const script = join(root, 'node_modules/vitest/vitest.mjs')
process.exitCode = (await runStep({ name, script, args }, { show: true })) ? 0 : 1
