// `everlong agent` on the screen. Loads only the terminal: the agent starts in its own thread.
import { join, resolve } from 'node:path'
import { homeOf, runTerminal, wantsPlain } from '@everlong/agent/terminal'
import type { Io } from '../../io.ts'
import { programName, shellWord } from '../../render/shell.ts'
import type { AgentWorkerData } from './agent-thread.ts'
import { type AgentOptions, startOptions } from './options.ts'

export async function agentOnScreen(folder: string, options: AgentOptions, io: Io): Promise<number> {
  const { stdin, stdout, env, cwd } = io
  const whole = resolve(cwd, folder)
  const data: AgentWorkerData = { ...startOptions(options), folder: whole }
  return runTerminal({
    worker: new URL('./agent-worker.ts', import.meta.url),
    data,
    folder: whole,
    stdin,
    stdout,
    env,
    historyFile: join(homeOf(env), 'history'),
    isPlain: options.plain === true || wantsPlain(io),
    ...(options.resume === true ? { prompt: '/resume' } : {}),
    // Useless for a program that reads the output.
    ...(stdout.isTTY ? { leaving: (id) => resumeLine(folder, id, io) } : {}),
  })
}

/** The folder as typed, because the line is for the shell that started this program. */
export function resumeLine(folder: string, id: string, io: Pick<Io, 'cwd' | 'env'>): string {
  const words = [...(folder === '.' ? [] : [shellWord(folder)]), '--resume', shellWord(id)]
  return `Continue this session with: ${programName(io)} agent ${words.join(' ')}`
}
