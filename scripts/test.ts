// `npm test`: the checks, then every unit, property and scenario test, then one line that sums it all up.
// Words after `npm test --` go to Vitest, which then runs alone.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, runChecks, runStep } from './steps.ts'

type VitestReport = {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly numFailedTestSuites: number
}

const words = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'everlong-test-'))
const reportFile = join(folder, 'report.json')
let { passed, failed } = words.length === 0 ? await runChecks() : { passed: 0, failed: 0 }
let skipped = 0

const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`, ...words]
const green = await runStep({ name: 'tests', script: vitest, args }, { show: true })
try {
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as VitestReport
  passed += report.numPassedTests
  skipped += report.numPendingTests + report.numTodoTests
  failed += report.numFailedTests
  // A suite that could not be loaded has no failed test of its own.
  if (!green && report.numFailedTests === 0) failed += Math.max(1, report.numFailedTestSuites)
} catch (error) {
  console.error(`The test runner left no report: ${String(error)}`)
  failed++
} finally {
  rmSync(folder, { recursive: true, force: true })
}

console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = failed === 0 ? 0 : 1
