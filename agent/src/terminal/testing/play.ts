// The program of the terminal's tests: runs in a pseudo-terminal, as the command line would run the agent.
import { writeFileSync } from 'node:fs'
import { runTerminal } from '../run-terminal.ts'
import type { PlayData } from './play-worker.ts'

const data: PlayData = JSON.parse(process.argv[2] ?? '{}')
const busiest = watchThread()
process.exitCode = await runTerminal({
  worker: new URL('./play-worker.ts', import.meta.url),
  data,
  folder: data.folder,
  stdin: process.stdin,
  stdout: process.stdout,
  env: process.env,
  historyFile: `${data.home}/history`,
})
writeFileSync(`${data.home}/busiest-ms`, String(busiest()))

/**
 * The longest that this thread worked without a pause since the signal SIGUSR2, in milliseconds of its own time: what else
 * the machine does is not counted.
 */
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
