// `everlong agent` on the screen. Loads no more than the terminal needs: the agent starts in a thread of its own.
import { join, resolve } from 'node:path'
import { type AgentWorkerData, agentWorker, homeOf, runTerminal, wantsPlain } from '@everlong/agent/terminal'
import { type AgentWords, startOptions } from '../agent-words.ts'
import { programName } from '../program-name.ts'
import { shellWord } from '../render/shell-word.ts'
import type { Surroundings } from '../surroundings.ts'

export async function agentOnScreen(folder: string, words: AgentWords, surroundings: Surroundings): Promise<number> {
  const { stdin, stdout, env, cwd } = surroundings
  const whole = resolve(cwd, folder)
  const data: AgentWorkerData = { ...startOptions(words), folder: whole }
  return runTerminal({
    worker: agentWorker,
    data,
    folder: whole,
    stdin,
    stdout,
    env,
    historyFile: join(homeOf(env), 'history'),
    isPlain: words.plain === true || wantsPlain(surroundings),
    ...(words.resume === true ? { prompt: '/resume' } : {}),
    // A program that reads the output has no use for it.
    ...(stdout.isTTY ? { leaving: (id) => resumeLine(folder, id, surroundings) } : {}),
  })
}

/** The folder as it was typed: the line is for the shell that this one was started from. */
export function resumeLine(folder: string, id: string, surroundings: Pick<Surroundings, 'cwd' | 'env'>): string {
  const words = [...(folder === '.' ? [] : [shellWord(folder)]), '--resume', shellWord(id)]
  return `Continue this session with: ${programName(surroundings)} agent ${words.join(' ')}`
}
