// `npm run check`: everything that can be said without running the product.
import { runChecks } from './steps.ts'

const { failed } = await runChecks()
process.exitCode = failed === 0 ? 0 : 1
