// The questions of the handover benchmark, asked of the context that a compaction leaves in a given room.
import { existsSync } from 'node:fs'
import { contenders } from '../handover/contexts.ts'
import { gradeContext, meanScore, readProbes } from '../handover/grade.ts'
import { caseOf } from '../handover/run.ts'
import { dataFolder } from '../root.ts'

export type Answered = { readonly limit: number | undefined; readonly cases: number; readonly score: number }

/** Empty without the recorded sessions. `contender`: one of those in handover/contexts.ts. */
export async function answeredAt(
  limits: readonly (number | undefined)[],
  contender = 'ours, model summary',
): Promise<readonly Answered[]> {
  const [probes, transcripts] = [dataFolder('probes'), dataFolder('transcripts')]
  const contextOf = contenders[contender]
  if (probes === undefined || transcripts === undefined || !existsSync(probes) || !contextOf) return []
  const sets = readProbes(probes)
  const found: Answered[] = []
  for (const limit of limits) {
    const scores: number[] = []
    for (const set of sets) {
      const { text } = await contextOf(caseOf(set, { probes, transcripts }), limit, set.answers)
      scores.push(meanScore(gradeContext(text, set.probes)))
    }
    const score = scores.reduce((sum, one) => sum + one, 0) / scores.length
    found.push({ limit, cases: sets.length, score })
  }
  return found
}
