// Climbs: tries rung after rung until one has an answer that holds up when measured. It applies nothing.

import type { Mechanism, MechanismContext, MechanismResult } from '../mechanisms/mechanism.ts'
import type { CompactionFailure, Tried } from '../ports/events.ts'
import { runMechanism } from './run-mechanism.ts'

export type Solution = Exclude<MechanismResult, { readonly type: 'declined' | 'failed' }>

/** Whether an answer is good enough; a string says why not. What was committed has been judged already. */
export type Judge = (solution: Solution) => string | undefined

export type Climbed = {
  readonly tried: readonly Tried[]
  readonly solution?: Solution
  /** Of the last rung that failed, where none succeeded. */
  readonly reason?: CompactionFailure
}

export async function climb(rungs: readonly Mechanism[], context: MechanismContext, judge: Judge): Promise<Climbed> {
  const tried: Tried[] = []
  let reason: CompactionFailure | undefined
  const note = (mechanism: string, outcome: Tried['outcome'], why: string) => {
    tried.push({ mechanism, outcome, why })
    context.ports.emit({ type: 'mechanism-tried', mechanism, outcome, why })
  }
  for (const rung of rungs) {
    const { name } = rung
    if (context.signal?.aborted) return { tried, reason: 'aborted' }
    const result = await runMechanism(rung, context)
    if ('tried' in result) tried.push(...(result.tried ?? []))
    if (result.type === 'declined') note(name, 'declined', result.why)
    else if (result.type === 'failed') {
      note(name, 'failed', result.why)
      reason = result.reason
      // A person who said no, by hand or by hook, has said it to the rungs below as well.
      if (reason === 'aborted' || reason === 'vetoed') return { tried, reason }
    } else {
      const problem = result.type === 'compacted' ? undefined : judge(result)
      note(name, problem === undefined ? 'done' : 'failed', problem ?? inWords(result))
      if (problem === undefined) return { tried, solution: result }
      reason = 'no_progress'
    }
  }
  return { tried, ...(reason === undefined ? {} : { reason }) }
}

function inWords(solution: Solution): string {
  switch (solution.type) {
    case 'reduced':
      return `cleared ${solution.results}, freed ${solution.freed} tokens`
    case 'delegated':
      return `asked the server to leave out ${solution.results}, about ${solution.freed} tokens`
    case 'compacted':
      return `summarised by ${solution.mechanism}`
  }
}
