// Those that are measured: each makes, from what came before a compaction, the text that it would leave for the model
// within a number of tokens. A peer is one more line here.
import { type ModelClient, offline, recorded } from 'everlong'
import { runCompaction } from 'everlong/internal/compaction'
import { compactionJobAt } from 'everlong/internal/node'
import { quietPorts } from '../quiet-ports.ts'
import { type Case, shownIn } from './cases.ts'
import { counting } from './measure.ts'
import { type Contender, recordedSummary, sessionOf, truncated } from './parts.ts'
import { peers } from './peers.ts'

export const contenders: Readonly<Record<string, Contender>> = {
  'ours, offline': (found, budget) => ours(found, { budget, model: offline() }),
  'ours, recorded summary': (found, budget) =>
    ours(found, { budget, model: recorded({ summaries: () => recordedSummary(found) }) }),
  ...peers,
  'newest that fit': async (found, budget) => truncated(found, { budget, most: Number.POSITIVE_INFINITY }),
  'last 10 messages': async (found, budget) => truncated(found, { budget, most: 10 }),
}

type Compacting = { readonly budget: number; readonly model: ModelClient }

/** What `everlong compact FILE --before UUID --budget N` leaves. */
async function ours(found: Case, { budget, model }: Compacting): Promise<string> {
  const result = await runCompaction(
    { ...compactionJobAt(sessionOf(found), { budget }), counting },
    quietPorts({ model, now: () => 0 }),
  )
  if (result.type === 'failed') throw new Error(`${found.name}: ${result.reason}: ${result.why}`)
  return result.messages.map(shownIn).join('\n')
}
