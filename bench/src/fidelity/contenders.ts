// Those that are measured: each makes, from what came before a compaction, the text that it would leave for the model
// within a number of tokens. A peer is one more line here.
import { type ModelClient, noHooks, runCompaction } from 'everlong'
import { offline, recorded } from 'everlong/models'
import { compactionInputAt } from 'everlong/node'
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
  let ids = 0
  const result = await runCompaction(
    { ...compactionInputAt(sessionOf(found), { budget }), counting },
    {
      now: () => 0,
      newId: () => `id-${ids++}`,
      model,
      hooks: noHooks,
      files: { read: async () => ({ type: 'missing' }) },
      emit: () => undefined,
      wait: async (milliseconds, signal) => {
        if (milliseconds < 30_000) return
        await new Promise<void>((resolve) => signal?.addEventListener('abort', resolve, { once: true }))
      },
    },
  )
  if (result.type === 'failed') throw new Error(`${found.name}: ${result.reason}: ${result.detail}`)
  return result.messages.map(shownIn).join('\n')
}
