// Runs the commands of check and test, and prints the result of each.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'

export const root = dirname(import.meta.dirname)

export type Step = { readonly name: string; readonly script: string; readonly args?: readonly string[] }

const bin = (name: string) => join(root, 'node_modules', name)

/** Two run at once, so one thread each: more threads of one compiler repeat much of the work. */
const compile = (project: string) => ['-p', project, '--singleThreaded']

const checks: readonly Step[] = [
  { name: 'types', script: bin('typescript/bin/tsc'), args: compile('tsconfig.json') },
  // Without the types of Node and browsers.
  { name: 'core-types', script: bin('typescript/bin/tsc'), args: compile('tsconfig.core.json') },
  // With the library of ES2023, as it is published.
  { name: 'engine-types', script: bin('typescript/bin/tsc'), args: compile('tsconfig.build.json') },
  // With the types of browsers.
  { name: 'page-types', script: bin('typescript/bin/tsc'), args: compile('viewer/tsconfig.json') },
  { name: 'biome', script: bin('@biomejs/biome/bin/biome'), args: ['check', '--error-on-warnings'] },
  { name: 'rooms', script: join(root, 'scripts/check-rooms.ts') },
  { name: 'public-names', script: join(root, 'scripts/check-public-names.ts') },
  { name: 'dead-code', script: bin('knip/bin/knip.js'), args: ['--no-config-hints'] },
]

export const checkNames = checks.map(({ name }) => name)

/** Runs these checks, two at a time. */
export async function runChecks(names = checkNames): Promise<{ readonly passed: number; readonly failed: number }> {
  const chosen = checks.filter(({ name }) => names.includes(name))
  const left = [...chosen]
  let failed = 0
  const lane = async () => {
    for (let step = left.shift(); step; step = left.shift()) if (!(await runStep(step))) failed++
  }
  await Promise.all([lane(), lane()])
  return { passed: chosen.length - failed, failed }
}

/** Runs one step with this Node; its output is shown only when it fails, unless `show` asks for all of it. */
export async function runStep(step: Step, options: { readonly show?: boolean } = {}): Promise<boolean> {
  const began = performance.now()
  const child = spawn(process.execPath, [step.script, ...(step.args ?? [])], {
    cwd: root,
    stdio: ['ignore', options.show ? 'inherit' : 'pipe', options.show ? 'inherit' : 'pipe'],
  })
  const output: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => output.push(chunk))
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve(status ?? 1))
  })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${code === 0 ? '✓' : '✗'} ${step.name} (${seconds} s)`)
  if (code !== 0 && !options.show) console.log(Buffer.concat(output).toString())
  return code === 0
}
