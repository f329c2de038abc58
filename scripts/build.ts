// `npm run build`: the library as people install it, in engine/dist: JavaScript, declarations, and a package.json
// whose exports name them. The compiler alone does it; nothing is bundled.
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runStep } from './steps.ts'

const engine = join(root, 'engine')
const dist = join(engine, 'dist')
rmSync(dist, { recursive: true, force: true })
mkdirSync(dist, { recursive: true })
writePackage()
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
copyFileSync(join(root, 'README.md'), join(dist, 'README.md'))

const compiler = join(root, 'node_modules/typescript/bin/tsc')
const steps = [
  { name: 'compile', script: compiler, args: ['-p', 'tsconfig.build.json'] },
  { name: 'package check', script: join(root, 'node_modules/publint/src/cli.js'), args: [dist, '--strict'] },
]
for (const step of steps) if (process.exitCode === undefined && !(await runStep(step))) process.exitCode = 1
console.log(`${globSync('**/*.js', { cwd: dist }).length} modules in engine/dist`)

/** In the checkout the exports name the sources; in the package, what they were compiled to. */
function writePackage(): void {
  const { exports, files: _, ...rest } = JSON.parse(readFileSync(join(engine, 'package.json'), 'utf8'))
  const compiled = Object.fromEntries(
    Object.entries(exports as Record<string, string>).map(([name, source]) => {
      const target = source.replace('./src/', './').replace(/\.ts$/, '')
      return [name, { types: `${target}.d.ts`, default: `${target}.js` }]
    }),
  )
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ ...rest, exports: compiled }, null, 2)}\n`)
}
