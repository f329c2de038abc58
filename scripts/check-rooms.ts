// Checks the tree against the table of scripts/rooms.ts.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkRooms } from './rooms.ts'
import { root } from './steps.ts'

const files = globSync(['*/src/**/*.{ts,tsx}', 'scripts/**/*.ts'], {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name === 'dist',
})
const sources = files.map((file) => ({
  path: file.replaceAll('\\', '/'),
  text: readFileSync(join(root, file), 'utf8'),
}))
const violations = checkRooms(sources)
for (const { path, problem } of violations) console.log(`${path} ${problem}`)
console.log(`${sources.length} files, ${violations.length} violations`)
process.exitCode = violations.length === 0 && sources.length > 0 ? 0 : 1
