// `npm run soak:properties`: runs every property test over and over, each time with a new seed, until the time is up.
// A test file takes part when its name contains "propert". The first failure ends the run and names its seed.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { root, runStep } from './steps.ts'

const minutes = Number(process.env.EVERLONG_SOAK_MINUTES ?? 10)
const asked = process.env.EVERLONG_SEED
const words = process.argv.slice(2)
if (!(minutes > 0)) fail('EVERLONG_SOAK_MINUTES must be a number of minutes, such as 10.')
if (asked !== undefined && asked !== 'random' && !Number.isSafeInteger(Number(asked)))
  fail('EVERLONG_SEED must be a whole number, or "random".')

// The table of hostile texts is small in `npm test`; here it runs at full size.
process.env.EVERLONG_TEXT_KB ??= '16'

const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const end = performance.now() + minutes * 60_000
let seed = asked === undefined || asked === 'random' ? Math.floor(Math.random() * 0x7fff_ffff) : Number(asked)
let passes = 0
do {
  process.env.EVERLONG_SEED = String(seed)
  const args = ['run', '--reporter=dot', ...(words.length > 0 ? words : ['propert'])]
  if (!(await runStep({ name: `pass ${passes + 1}, seed ${seed}`, script: vitest, args }))) {
    fail(`Failed after ${passes} good passes. To see it again: EVERLONG_SEED=${seed} npm test -- ${args.at(-1)}`)
  }
  passes++
  seed = (seed + 1) % 0x7fff_ffff
} while (performance.now() < end)
console.log(`${passes} passes in ${minutes} minutes, no failure`)

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
