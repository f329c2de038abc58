// The program of the terminal's tests: runs in a pseudo-terminal, as the command line would run the agent.
import { renameSync, writeFileSync } from 'node:fs'
import type { Play } from '../player.ts'
import { runTerminal } from '../run-terminal.ts'
import type { PlayData } from './play-worker.ts'

const data: PlayData = JSON.parse(process.argv[2] ?? '{}')
const busiest = watchThread()
const noise = data.isNoisy ? setInterval(printNoise, 20) : undefined
process.exitCode = await runTerminal({
  worker: new URL('./play-worker.ts', import.meta.url),
  data,
  folder: data.folder,
  stdin: process.stdin,
  stdout: process.stdout,
  env: process.env,
  historyFile: `${data.home}/history`,
  leaving: (id) => `Left the session ${id}.`,
  ...(data.turns === undefined ? {} : { play: playTurns(data.turns) }),
})
clearInterval(noise)
writeFileSync(`${data.home}/busiest-ms`, String(busiest()))

function printNoise(): void {
  process.stdout.write('noise on stdout\n')
  console.error('noise on stderr')
  process.emitWarning('noise as a warning')
}

/** Each with a tool call, a diff and an answer. */
function playTurns(turns: number): Play {
  return async (player) => {
    const heaps: Record<number, number> = {}
    for (let turn = 1; turn <= turns && !player.isStopped(); turn++) {
      player.paste(`call Read notes.txt; say # Turn ${turn}\\n\\n- one\\n- two\\n\\nSome **words** about it.`)
      await player.send()
      if (turn % 100 !== 0) continue
      globalThis.gc?.()
      heaps[turn] = process.memoryUsage().heapUsed
      writeFileSync(`${data.home}/heap.new`, JSON.stringify(heaps))
      renameSync(`${data.home}/heap.new`, `${data.home}/heap.json`)
    }
  }
}

/** The longest time that this thread worked without a pause since the signal SIGUSR2, in milliseconds of its own processor time. */
function watchThread(): () => number {
  let before = process.threadCpuUsage()
  let longest = 0
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    longest = Math.max(longest, (user + system) / 1_000)
  }, 1)
  process.on('SIGUSR2', () => {
    longest = 0
  })
  timer.unref()
  return () => longest
}
