// `everlong agent` on the screen. Loads no more than the terminal needs: the agent starts in a thread of its own.
import { join, resolve } from 'node:path'
import { homeOf, runTerminal, wantsPlain } from '@everlong/agent/terminal'
import type { Io } from '../../io.ts'
import { programName, shellWord } from '../../render/shell.ts'
import type { AgentWorkerData } from './agent-worker.ts'
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
    // A program that reads the output has no use for it.
    ...(stdout.isTTY ? { leaving: (id) => resumeLine(folder, id, io) } : {}),
  })
}

/** The folder as it was typed: the line is for the shell that this one was started from. */
export function resumeLine(folder: string, id: string, io: Pick<Io, 'cwd' | 'env'>): string {
  const words = [...(folder === '.' ? [] : [shellWord(folder)]), '--resume', shellWord(id)]
  return `Continue this session with: ${programName(io)} agent ${words.join(' ')}`
}
