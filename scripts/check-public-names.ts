// Compares the entries of the engine with docs/api/README.md, and everlong/internal with what our packages import.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkNames, entries, internalEntries, namesIn } from './public-names.ts'
import { root } from './steps.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = globSync(['*/src/**/*.ts', 'plugins/**/*.ts', 'scripts/**/*.ts', 'docs/*.md'], {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name === 'dist',
})
const listed = (named: typeof entries) =>
  named.map(([subpath, source]) => {
    const { values, types } = namesIn(source)
    return { subpath: `everlong${subpath.slice(1)}`, names: [...values, ...types] }
  })
const problems = checkNames({
  index: read('docs/api/README.md'),
  entries: listed(entries),
  internal: listed(internalEntries),
  sources: files.map(read),
})
for (const problem of problems) console.log(problem)
process.exitCode = problems.length === 0 ? 0 : 1
