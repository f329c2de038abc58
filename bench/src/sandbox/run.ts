// `npm run bench -- sandbox`: what a command costs in the sandbox, next to the same command without it, in one run.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setBench, whyNoSandbox } from '@everlong/agent/testing'
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { median } from '../median.ts'

const rounds = 15

/** Commands of every day, from the shortest to one that takes a second. */
const commands = [
  { name: 'a command that does nothing', command: 'true' },
  { name: 'git status', command: 'git status --short' },
  { name: 'a script for Node', command: 'node -e 0' },
  { name: 'a command of one second', command: 'sleep 1' },
]

type Row = { readonly name: string; readonly withoutMs: number; readonly withMs: number }
type Report = { readonly firstMs: number; readonly rows: readonly Row[]; readonly files: number }

export const benchmark = defineBenchmark({ name: 'sandbox', run, page })

/** Files in the workspace. Each command searches them for secrets first. */
const files = 20_000

async function run(): Promise<Report> {
  const why = await whyNoSandbox()
  if (why !== undefined) throw new Error(`There is no sandbox on this machine: ${why}.`)
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME }
  const [without, inside] = await Promise.all(
    (['off', 'on'] as const).map((mode) => setBench({ environment, sandbox: { mode }, startMode: 'allow' })),
  )
  if (!without || !inside) throw new Error('Two benches were set.')
  for (const { folder } of [without, inside]) fill(folder)
  const timed = async (bench: typeof inside, command: string) => {
    const began = performance.now()
    await bench.call('Bash', { command })
    return performance.now() - began
  }
  const firstMs = await timed(inside, 'true')
  const rows: Row[] = []
  for (const { name, command } of commands) {
    const times: { readonly withoutMs: number; readonly withMs: number }[] = []
    for (let round = 0; round < rounds; round++) {
      times.push({ withoutMs: await timed(without, command), withMs: await timed(inside, command) })
    }
    rows.push({
      name,
      withoutMs: median(times.map((each) => each.withoutMs)),
      withMs: median(times.map((each) => each.withMs)),
    })
  }
  await without.close()
  await inside.close()
  return { firstMs, rows, files }
}

function fill(folder: string): void {
  for (let at = 0; at < files; at++) {
    const place = join(folder, `d${at % 200}`)
    if (at < 200) mkdirSync(place)
    writeFileSync(join(place, `f${at}.txt`), '')
  }
  writeFileSync(join(folder, '.env'), 'KEY=x\n')
  execFileSync('git', ['init', '-q'], { cwd: folder })
}

function page({ rows, firstMs, files: all }: Report): Page {
  const lines = rows.map(({ name, withoutMs, withMs }) => [
    name,
    `${(withMs / withoutMs).toFixed(1)}×`,
    `${(withMs - withoutMs).toFixed(0)} ms`,
  ])
  return {
    title: 'Commands in the sandbox',
    parts: [
      `Medians of ${rounds} rounds in a workspace of ${all.toLocaleString('en')} files; the same commands take turns with and without the sandbox.`,
      table(['command', 'time with the sandbox, as a multiple', 'difference'], lines),
      `The first command also starts the sandbox: ${(firstMs / 1000).toFixed(1)} s.`,
    ],
  }
}
