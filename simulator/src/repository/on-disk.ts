// A generated repository on disk, with tests that really run and fail until its bugs are fixed. For the demo and for tests.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Bug, Repository } from './repository.ts'

const bugsFile = '.everlong-demo/bugs.json'

/** Writes its files into a folder that is empty or new. The result is the same repository, with this folder as its root. */
export function writeRepository(repository: Repository, folder: string): Repository {
  const config = JSON.parse(repository.files.get('package.json') ?? '{}') as Record<string, unknown>
  const scripts = { test: `node ${dirname(bugsFile)}/test.mjs`, build: `node ${dirname(bugsFile)}/build.mjs` }
  const files = new Map([
    ...repository.files,
    ['package.json', `${JSON.stringify({ ...config, devDependencies: undefined, scripts }, undefined, 2)}\n`],
    [bugsFile, `${JSON.stringify(repository.bugs, undefined, 2)}\n`],
    [`${dirname(bugsFile)}/test.mjs`, testScript],
    [`${dirname(bugsFile)}/build.mjs`, buildScript],
  ])
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return { ...repository, root: folder }
}

const skipped: ReadonlySet<string> = new Set(['.git', 'node_modules', '.everlong', dirname(bugsFile)])
const maxFiles = 400

/** The simulated model's knowledge of a folder: the names of its files, and the bugs if it is a generated repository. */
export function repositoryIn(folder: string): Repository {
  const bugs = existsSync(join(folder, bugsFile))
    ? (JSON.parse(readFileSync(join(folder, bugsFile), 'utf8')) as readonly Bug[])
    : []
  const names = filesBelow(folder).map((path) => relative(folder, path).replaceAll('\\', '/'))
  const files = new Map(names.map((name) => [name, '']))
  return { seed: 1, name: 'demo', root: folder, branch: 'main', head: '0000000', files, bugs }
}

function filesBelow(folder: string, room = maxFiles): readonly string[] {
  const found: string[] = []
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    if (skipped.has(item.name) || found.length >= room) continue
    const path = join(folder, item.name)
    if (item.isDirectory()) found.push(...filesBelow(path, room - found.length))
    else if (item.isFile()) found.push(path)
  }
  return found.slice(0, room)
}

/** Prints the output of a test runner: suites, then each failure, then the sum. */
const testScript = `import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const filters = process.argv.slice(2).filter((word) => word !== '--')
const bugs = JSON.parse(readFileSync(join(import.meta.dirname, 'bugs.json'), 'utf8'))
const wanted = (path) => filters.length === 0 || filters.some((filter) => path.includes(filter))
const textOf = (path) => readFileSync(join(root, path), 'utf8')
const isFixed = ({ path, right, wrong }) => textOf(path).includes(right) && !textOf(path).includes(wrong)
const suites = readdirSync(join(root, 'src'), { recursive: true })
  .map((name) => 'src/' + name.replaceAll('\\\\', '/'))
  .filter((path) => path.endsWith('.test.ts') && wanted(path))
const open = bugs.filter((bug) => wanted(bug.testPath) && !isFixed(bug))
let count = 0
for (const path of suites) {
  const names = [...textOf(path).matchAll(/^test\\('(.*)', async/gm)].map((match) => match[1])
  const red = open.filter((bug) => bug.testPath === path).map((bug) => bug.testName)
  count += names.length
  console.log(' ' + (red.length > 0 ? '✗' : '✓') + ' ' + path + ' (' + names.length + ' tests)')
  for (const name of names) console.log('   ' + (red.includes(name) ? '✗' : '✓') + ' ' + name)
}
for (const bug of open) {
  console.log('\\n FAIL  ' + bug.testPath + ' > ' + bug.testName)
  console.log('AssertionError: expected values to be equal\\n  - Expected: ' + bug.expected + '\\n  + Received: ' + bug.received)
  console.log('    at ' + bug.symbol + ' (' + bug.path + ')')
}
const verdict = open.length > 0 ? open.length + ' failed | ' + (count - open.length) + ' passed' : count + ' passed'
console.log('\\n Test Files  ' + suites.length + '\\n      Tests  ' + verdict + ' (' + count + ')')
process.exitCode = open.length > 0 ? 1 : 0
`

const buildScript = `import { readFileSync } from 'node:fs'
import { join } from 'node:path'

console.log(readFileSync(join(import.meta.dirname, '../logs/build.log'), 'utf8').trimEnd())
`
