// The contexts that are graded: what each contender leaves for the next agent at one recorded compaction, with a strong
// model's summary, with an ordinary one, with the one that was recorded, or without a model.
import { type ModelClient, offline, recorded } from 'everlong'
import { type Compaction, formatSummary, runCompaction } from 'everlong/internal/compaction'
import { compactionJobAt } from 'everlong/internal/node'
import { type Case, shownIn } from '../fidelity/cases.ts'
import { counting, countTokens } from '../fidelity/measure.ts'
import { recordedContext, recordedSummary, sessionOf } from '../fidelity/parts.ts'
import { peers } from '../fidelity/peers.ts'
import { quietPorts } from '../quiet-ports.ts'
import type { Answers } from './grade.ts'
import { notesOf } from './notes.ts'

export type Context = {
  readonly text: string
  /** Ours: tokens by where they come from. */
  readonly composition?: Compaction['composition']
  /** Ours: tokens of the context without restored files. */
  readonly handover?: number
}

/** undefined: no limit of ours. */
export type Limit = number | undefined

export type Contender = (found: Case, limit: Limit, answers: Answers) => Promise<Context>

/** The summary in a model's answer, without its scratchpad. */
export function summaryIn(answer: string): string {
  return formatSummary(answer).text
}

export const contenders: Readonly<Record<string, Contender>> = {
  'ours, model summary': (found, limit, { strong }) =>
    ours(found, { limit, model: recorded({ summaries: () => strong }) }),
  'ours, ordinary summary': (found, limit, { ordinary }) =>
    ours(found, { limit, model: recorded({ summaries: () => ordinary }) }),
  'ours, recorded summary': (found, limit) =>
    ours(found, { limit, model: recorded({ summaries: () => recordedSummary(found) }) }),
  'ours, offline': (found, limit) => ours(found, { limit, model: offline() }),
  'ours, session memory': async (found, limit) => ours(found, { limit, model: offline(), given: await notesOf(found) }),
  ...Object.fromEntries(
    Object.entries(peers).map(([name, peer]): [string, Contender] => [
      name,
      async (found, limit, { strong }) => ({ text: await peer(found, limit ?? noLimit, summaryIn(strong)) }),
    ]),
  ),
}

/** Peers have no limit for the whole; this is more than any of them leaves. */
const noLimit = 200_000

/** References that are graded only once, because they do not depend on the limit. */
export const references: Readonly<Record<string, (found: Case, answers: Answers) => string>> = {
  recorded: (found) => recordedContext(found),
  'model summary alone': (_, { strong }) => summaryIn(strong),
  'ordinary summary alone': (_, { ordinary }) => summaryIn(ordinary),
}

/** The context names it. The real one would make the figures depend on where the checkout is. */
const transcriptPath = '/home/dev/session.jsonl'

type Compacting = { readonly limit: Limit; readonly model: ModelClient; readonly given?: string }

/** What `everlong compact FILE --before UUID [--budget N]` leaves. */
async function ours(found: Case, { limit, model, given }: Compacting): Promise<Context> {
  const job = compactionJobAt(sessionOf(found), limit === undefined ? {} : { budget: limit })
  const notes = given === undefined ? {} : { given: { text: given, mechanism: 'session-memory', why: 'notes' } }
  const asked = { ...job, ...notes, transcriptPath, counting }
  const result = await runCompaction(asked, quietPorts({ model, now: () => 0 }))
  if (result.type === 'failed') throw new Error(`${found.name}: ${result.reason}: ${result.why}`)
  const text = result.messages.map(shownIn).join('\n')
  if (limit !== undefined && countTokens(text) > limit) {
    throw new Error(`${found.name}: ours left ${countTokens(text)} tokens, and ${limit} were allowed.`)
  }
  return { text, composition: result.composition, handover: countTokens(result.summary) }
}
