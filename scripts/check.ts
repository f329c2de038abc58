// `npm run check`: everything that can be said without running the product.
import { checks, runStep } from './steps.ts'

let failed = 0
for (const step of checks) if (!(await runStep(step))) failed++
process.exitCode = failed === 0 ? 0 : 1
