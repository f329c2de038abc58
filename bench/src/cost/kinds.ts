// Three working days of an agent: one that reads much, one that edits much, one whose commands and answers are long.
import { type AgentOptions, agent, type Repository, type Script, syntheticRepository } from '@everlong/simulator'
import { shareOfRereads } from './returns.ts'

export const kinds = ['reading', 'editing', 'long-outputs'] as const
export type Kind = (typeof kinds)[number]

/** Where nothing has to be read twice. */
export const answersPerTask = 9

export type Work = { readonly repository: Repository; readonly script: Script }

export function workOf(kind: Kind, seed: number): Work {
  const repository = syntheticRepository({ seed, files: 60 })
  const habits: AgentOptions = { repository, seed, turnsPerTask: answersPerTask, habit: kind }
  const options: AgentOptions = { ...habits, needs: 'sight', rereads: shareOfRereads }
  return { repository, script: agent(options) }
}
