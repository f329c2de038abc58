// `npm run bench -- terminal`: how soon the agent's first screen is there, next to a Node that does nothing; how busy the
// terminal's thread gets while 200,000 tokens are compacted; and its heap over 2,000 turns.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Pty, playProgram, startPty } from '@everlong/agent/terminal/testing'
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { median } from '../median.ts'
import { root } from '../root.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'

const rounds = 9
const turns = 2_000

type Starts = { readonly bareMs: number; readonly screenMs: number; readonly agentMs: number }

export const benchmark = defineBenchmark({ name: 'terminal', run: () => inTemporaryFolder(run), page })

async function run(folder: string): Promise<Report> {
  const starts: Starts[] = []
  // The first one fills the compile cache, which Node stores when a program ends in order.
  await startOnce(folder, quit)
  for (let round = 0; round < rounds; round++) starts.push(await startOnce(folder))
  const busiestMs = await busiestWhileCompacting(placesIn(folder, 'compact'))
  const heaps = await heapOverTurns(placesIn(folder, 'turns'))
  return { node: process.version, starts: medians(starts), busiestMs, heaps }
}

async function startOnce(folder: string, finish: (program: Pty) => Promise<void> = end): Promise<Starts> {
  const bareMs = timed(() => spawnSync(process.execPath, ['-e', '0']))
  const began = performance.now()
  const command = [process.execPath, join(root, 'scripts/launch.mjs'), 'cli', 'agent', folder, '--model', 'demo']
  const program = startPty({ command, env: { EVERLONG_HOME: join(folder, 'home') } })
  await program.shows('Ask something')
  const screenMs = performance.now() - began
  await program.shows('% left')
  const agentMs = performance.now() - began
  await finish(program)
  return { bareMs, screenMs, agentMs }
}

function timed(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

async function quit(program: Pty): Promise<void> {
  program.type('/quit\r')
  await program.ended
}

async function end(program: Pty): Promise<void> {
  program.kill('SIGKILL')
  await program.ended
}

function placesIn(folder: string, name: string) {
  const places = { folder: join(folder, name), home: join(folder, `${name}-home`) }
  for (const place of Object.values(places)) mkdirSync(place)
  writeFileSync(join(places.folder, 'notes.txt'), 'Some notes.\n')
  return places
}

function play(data: { readonly home: string } & Readonly<Record<string, unknown>>): Pty {
  return startPty({ command: [process.execPath, '--expose-gc', fileURLToPath(playProgram), JSON.stringify(data)] })
}

async function busiestWhileCompacting(places: ReturnType<typeof placesIn>): Promise<number> {
  const program = play({ ...places, window: 1_000_000, tokens: 200_000, isOffline: true })
  await program.shows(/2\d\dk of|2\d\d,\d{3} of/)
  program.kill('SIGUSR2')
  program.type('/compact\r')
  await program.shows('● Compacted')
  program.type('/quit\r')
  await program.ended
  return Number(readFileSync(join(places.home, 'busiest-ms'), 'utf8'))
}

/** In bytes, by turn. */
async function heapOverTurns(places: ReturnType<typeof placesIn>): Promise<Readonly<Record<string, number>>> {
  const program = play({ ...places, turns, window: 100_000 })
  const path = join(places.home, 'heap.json')
  // At its own pace: a busy machine takes minutes.
  while (program.isAlive() && !(existsSync(path) && JSON.parse(readFileSync(path, 'utf8'))[turns])) await sleep(500)
  await end(program)
  return JSON.parse(readFileSync(path, 'utf8'))
}

function medians(starts: readonly Starts[]) {
  const of = (pick: (each: Starts) => number) => Math.round(median(starts.map(pick)))
  return {
    bareMs: of(({ bareMs }) => bareMs),
    screenMs: of(({ screenMs }) => screenMs),
    agentMs: of(({ agentMs }) => agentMs),
    ratio: Number(median(starts.map(({ bareMs, screenMs }) => screenMs / bareMs)).toFixed(1)),
  }
}

type Report = {
  readonly node: string
  readonly starts: ReturnType<typeof medians>
  readonly busiestMs: number
  readonly heaps: Readonly<Record<string, number>>
}

function page({ starts, busiestMs, heaps }: Report): Page {
  const megabytes = (bytes: number | undefined) => `${((bytes ?? Number.NaN) / 1_000_000).toFixed(1)} MB`
  return {
    title: 'The terminal of the agent',
    parts: [
      `Times are medians of ${rounds} starts, next to a Node that does nothing (\`node -e 0\`), taking turns, with the compile cache filled.`,
      table(
        ['', 'time', 'times a bare Node'],
        [
          ['`node -e 0`', `${starts.bareMs} ms`, 1],
          ['first screen', `${starts.screenMs} ms`, starts.ratio],
          ['agent ready', `${starts.agentMs} ms`, starts.agentMs / starts.bareMs],
        ],
      ),
      `While 200,000 tokens are compacted without a model, the thread of the terminal is never busy for longer than ${Math.ceil(busiestMs)} ms, in
its own processor time.`,
      `The heap of this thread after garbage collection, over ${turns.toLocaleString('en-US')} turns with a tool call and an answer each:`,
      table(
        ['turn', 'heap'],
        ['100', '500', '1000', '1500', '2000'].map((turn) => [turn, megabytes(heaps[turn])]),
      ),
    ],
  }
}
