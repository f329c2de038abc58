// The processor time of one hook. Each is a process of its own, as in the agents.
import { spawnSync } from 'node:child_process'

/** Tells on stderr how much processor time the process used. */
const meter = `data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();process.stderr.write('\\ncpu='+(user+system)/1000)})`

/** In milliseconds. Processor time, because it hardly depends on other load. */
export function cpuOf(words: readonly string[], input: string, env: Readonly<Record<string, string>> = {}): number {
  const options = { input, env: { ...process.env, NODE_COMPILE_CACHE: undefined, ...env }, encoding: 'utf8' as const }
  const run = spawnSync(process.execPath, ['--import', meter, ...words], options)
  const cpu = /cpu=([\d.]+)$/.exec(run.stderr)?.[1]
  if (run.status !== 0 || cpu === undefined) throw new Error(`${words.join(' ')} failed: ${run.stderr}`)
  return Number(cpu)
}

/** A hook that is measured again and again. */
export type Hook = {
  readonly agent: string
  readonly name: string
  readonly note: string
  readonly cost: () => number
}
