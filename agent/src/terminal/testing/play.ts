// The program of the terminal's tests: runs in a pseudo-terminal, as the command line would run the agent.
import { runTerminal } from '../run-terminal.ts'
import type { PlayData } from './play-worker.ts'

const data: PlayData = JSON.parse(process.argv[2] ?? '{}')
process.exitCode = await runTerminal({
  worker: new URL('./play-worker.ts', import.meta.url),
  data,
  folder: data.folder,
  stdin: process.stdin,
  stdout: process.stdout,
  env: process.env,
  historyFile: `${data.home}/history`,
})
