// `npm run bench -- soak`: long sessions of the loop in a small window, against the simulator. Whether every request was
// valid and inside the window, whether every rule is still there, and whether memory grows.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type SoakReport, soak, soakFaults, soakWindow } from '@everlong/agent/testing'
import { defineBenchmark, type Page, type Target, table } from '../benchmark.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { type Alone, runAlone } from './alone.ts'

const maxLength = 5_000
const plays = [{ turns: 500 }, { turns: 500, faults: soakFaults }, { turns: maxLength }] as const
/** Bytes a turn: the table of written uuids takes 24 to 50 for each of its two or three records. */
const steepest = 256

/** Seconds are processor time, which does not depend on other work on the machine. */
type Run = SoakReport & { readonly seconds: number; readonly fileMegabytes: number }

type Figures = {
  readonly node: string
  readonly window: number
  readonly seconds: number
  readonly targets: readonly Target[]
  readonly alone: Alone
  readonly runs: readonly Run[]
}

export const benchmark = defineBenchmark({ name: 'soak', run, page, targets: ({ targets }) => targets })

async function run(): Promise<Figures> {
  const began = process.cpuUsage()
  const alone = await inTemporaryFolder((folder) => runAlone(join(folder, 'session.jsonl'), maxLength))
  const runs: Run[] = []
  for (const play of plays) runs.push(await longRun(play))
  const targets = [flatness(alone), ...runs.map(goodEnd)]
  const seconds = secondsSince(began)
  return { node: process.versions.node, window: soakWindow, seconds, targets, alone, runs }
}

function secondsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1e6
}

function longRun(play: (typeof plays)[number]): Promise<Run> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, 'session.jsonl')
    const began = process.cpuUsage()
    // The simulator's own log is kept short, because it is not measured.
    const report = await soak({ ...play, path, simulator: { logEntries: 20 } })
    const seconds = secondsSince(began)
    return { ...report, seconds, fileMegabytes: statSync(path).size / 1e6 }
  })
}

function flatness({ turns, slope }: Alone): Target {
  return {
    what: `memory of the engine over ${turns} turns, from the second thousand on`,
    wanted: `at most ${steepest} bytes a turn`,
    measured: `${slope.toFixed(0)} bytes a turn`,
    met: slope <= steepest,
  }
}

function goodEnd({ turns, rules, lost, invalid, endings, largest, faults }: Run): Target {
  const kept = rules - lost.length
  return {
    what: `${turns} turns in a window of ${soakWindow}${faults > 0 ? `, faults on ${faults} requests` : ''}`,
    wanted: 'every rule word for word, no request invalid or too large',
    measured: `${kept} of ${rules} rules, ${invalid.length + endings.length} bad requests, ${largest} tokens at most`,
    met: kept === rules && invalid.length + endings.length === 0 && largest <= soakWindow,
  }
}

function page({ window, seconds, runs, alone }: Figures): Page {
  return {
    title: 'Long sessions in a small window',
    parts: [
      `Written by \`npm run bench -- soak\`: the query loop works on a generated repository against the simulator, in a window of
${window} tokens, with a transcript and notes on disk. The first tasks bring a rule each; at the end every one of them must
be in the context word for word. All of this page takes ${seconds.toFixed(0)} seconds of a processor.`,
      table(
        [
          'turns',
          'requests with a fault',
          'compactions',
          'requests that broke a rule or the window',
          'largest context',
          'rules lost',
          'transcript, MB',
          'processor, s',
        ],
        runs.map((it) => [
          it.turns,
          it.faults,
          it.compactions,
          it.invalid.length + it.endings.length,
          it.largest,
          `${it.lost.length} of ${it.rules}`,
          it.fileMegabytes,
          it.seconds,
        ]),
      ),
      '## Memory of the engine alone',
      `${alone.turns} turns with a model that only calls tools, files full of names never seen before, and compactions without a model.
After each compaction garbage is collected, and what the process still holds is counted: objects and arrays, without the
code that V8 compiled. The live window comes and goes, and so does a cache of words, which is emptied when it is full. So
the minimum of each thousand turns is what stays, in megabytes.`,
      table(
        ['turns', 'min', 'max'],
        alone.stretches.map(({ from, to, least, most }) => [`${from}–${to}`, least / 1e6, most / 1e6]),
      ),
      `From the second thousand to the last, what stays grows by **${alone.slope.toFixed(0)} bytes a turn**. Most of that is the writer's
table of the uuids it has written (16 bytes and a slot for each record, doubled when it is full), with which it refuses a
record that is already there; the rest is V8's own lists of what its compiled code depends on. Heap snapshots after 1,653
and 3,627 turns show nothing else that grows.`,
    ],
  }
}
