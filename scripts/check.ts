// `npm run check`: all checks that do not run the product. `npm run check -- NAME …` runs only these checks.
import { checkNames, runChecks } from './steps.ts'

const names = process.argv.slice(2)
const unknown = names.filter((name) => !checkNames.includes(name))
if (unknown.length > 0) {
  console.error(`There is no check ${unknown.join(', ')}. Checks: ${checkNames.join(', ')}.`)
  process.exitCode = 2
} else {
  const { failed } = await runChecks(names.length === 0 ? checkNames : names)
  process.exitCode = failed === 0 ? 0 : 1
}
