// `everlong agent` on the screen. Loads no more than the terminal needs: the agent starts in a thread of its own.
import { join, resolve } from 'node:path'
import { type AgentWorkerData, agentWorker, homeOf, runTerminal, wantsPlain } from '@everlong/agent/terminal'
import { type AgentWords, startOptions } from '../agent-words.ts'
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
  })
}
