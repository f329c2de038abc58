// `everlong compact`: makes of a session the context one would go on with, as of now or as of any entry. Prints it, or
// writes the compacted session to a new file. The session itself is never touched.
import { randomUUID } from 'node:crypto'
import { countTokens, type Message, type ModelClient } from 'everlong'
import {
  type CompactionJob,
  type CompactionPlan,
  type CompactionResult,
  compactionOff,
  type FidelityReport,
  noHooks,
  type PartialChoice,
  planCompaction,
  runCompaction,
  type Tried,
} from 'everlong/mechanisms'
import { systemPorts } from 'everlong/models'
import { compactionJobAt, forEachRecordAt, openSessionAt, type SessionAt, writeNewTranscript } from 'everlong/node'
import type { ViewMessage } from 'everlong/transcript'
import { createCompactProgress } from '../compact-progress.ts'
import { chooseModel } from '../model-choice.ts'
import type { ModelWords } from '../option-values.ts'
import { failed, gathered, noPlaceFor, noTranscript, type Outcome, reading, writing } from '../outcome.ts'
import { createProgress } from '../progress.ts'
import { visible } from '../render/safe.ts'
import type { Surroundings } from '../surroundings.ts'

export type CompactOptions = {
  readonly before?: string
  readonly from?: string
  readonly upTo?: string
  readonly model?: ModelWords
  readonly instructions?: string
  readonly budget?: number
  readonly dryRun?: boolean
  readonly out?: string
  readonly json?: boolean
}

export type CompactReport = {
  readonly file: string
  readonly before?: string
  /** The new context; as it was where nothing was done. */
  readonly messages: readonly Message[]
  readonly tokens: { readonly before: number; readonly after: number }
  readonly mechanism: string | undefined
  readonly model: string | undefined
  readonly fidelity: FidelityReport | undefined
  readonly tried: readonly Tried[]
  readonly kept: number
  readonly summarized: number
  readonly restored: readonly string[]
  readonly notRestored: readonly string[]
  readonly cost: number | undefined
  readonly durationMs: number
  /** Of --dry-run: what would be done. */
  readonly plan?: CompactionPlan
  readonly failed?: { readonly reason: string; readonly detail: string }
  /** Of --out: the new file. */
  readonly out?: string
}

type Asked = CompactOptions & { readonly surroundings: Surroundings }

export async function gather(file: string, options: Asked): Promise<Outcome<CompactReport>> {
  const off = compactionOff({ environment: options.surroundings.env })
  if (off !== undefined) return failed(`${off} Unset it to compact.`)
  const trouble = options.out === undefined ? undefined : noPlaceFor(options.out)
  if (trouble) return failed(trouble)
  const opened = open(file, options)
  if (opened.type === 'failed') return opened
  const session = opened.report
  const { env } = options.surroundings
  const model = chooseModel(options.model ?? { type: 'offline' }, { env, recordedSummary: session.recordedSummary })
  if (model.type === 'refused') return failed(model.why)
  const input = inputFor(session, options)
  if (options.dryRun) return planned(session, { input, client: model.client, options })
  const result = await compact(input, model.client, options.surroundings)
  return result.type === 'failed' ? notDone(session, input, result) : written(session, result, options)
}

function open(file: string, { before, surroundings }: Asked): Outcome<SessionAt> {
  return reading(file, () => {
    const progress = createProgress(surroundings)
    try {
      const session = openSessionAt(file, { before, onProgress: progress.show })
      if (session.type === 'session' && session.lastUuid !== undefined) return gathered(session)
      if (session.type === 'session') return failed(noTranscript(file))
      return failed(`no entry of ${visible(file)} has the uuid ${visible(session.uuid)}. See everlong tree and epochs.`)
    } finally {
      progress.clear()
    }
  })
}

function inputFor(session: SessionAt, options: Asked): CompactionJob {
  const { instructions, budget } = options
  return compactionJobAt(session, { partial: partialOf(options), instructions, budget })
}

function partialOf({ from, upTo }: CompactOptions): PartialChoice | undefined {
  if (from !== undefined) return { type: 'from', uuid: from }
  return upTo === undefined ? undefined : { type: 'up-to', uuid: upTo }
}

async function compact(
  input: CompactionJob,
  model: ModelClient,
  surroundings: Surroundings,
): Promise<CompactionResult> {
  const progress = createCompactProgress(surroundings)
  try {
    return await runCompaction(
      input,
      {
        now: surroundings.now,
        newId: randomUUID,
        model,
        hooks: noHooks,
        // Restoring reads what the transcript showed; this machine's files are none of its business.
        files: { read: async () => ({ type: 'missing' }) },
        emit: progress.tell,
        wait: systemPorts.wait,
      },
      progress.signal,
    )
  } finally {
    progress.end()
  }
}

const bare = (messages: readonly ViewMessage[]): readonly Message[] =>
  messages.map(({ role, content }) => ({ role, content }))

function unchanged(session: SessionAt, { counting = {} }: CompactionJob): CompactReport {
  const { messages } = session.fold.view()
  const tokens = countTokens(messages, counting)
  return {
    file: session.path,
    messages: bare(messages),
    tokens: { before: tokens, after: tokens },
    mechanism: undefined,
    model: undefined,
    fidelity: undefined,
    tried: [],
    kept: 0,
    summarized: 0,
    restored: [],
    notRestored: [],
    cost: undefined,
    durationMs: 0,
  }
}

function planned(
  session: SessionAt,
  { input, client, options }: { readonly input: CompactionJob; readonly client: ModelClient; readonly options: Asked },
): Outcome<CompactReport> {
  const plan = planCompaction(input, client)
  const named = options.before === undefined ? {} : { before: options.before }
  return gathered({ ...unchanged(session, input), ...named, plan }, plan.type === 'planned' ? 0 : 1)
}

function notDone(
  session: SessionAt,
  input: CompactionJob,
  { reason, detail, tried }: Extract<CompactionResult, { type: 'failed' }>,
): Outcome<CompactReport> {
  const report = { ...unchanged(session, input), tried, failed: { reason, detail } }
  return { type: 'gathered', report, exitCode: 1, complaint: `nothing was compacted (${reason}): ${detail}` }
}

function written(
  session: SessionAt,
  result: Extract<CompactionResult, { type: 'compacted' }>,
  options: Asked,
): Outcome<CompactReport> {
  const report: CompactReport = {
    file: session.path,
    ...(options.before === undefined ? {} : { before: options.before }),
    messages: bare(result.messages),
    tokens: result.tokens,
    mechanism: result.mechanism,
    model: result.model,
    fidelity: result.fidelity,
    tried: result.tried,
    kept: result.keptUuids.length,
    summarized: session.fold.view().sources.flatMap(({ uuids }) => uuids).length - result.keptUuids.length,
    restored: result.restored.pieces.map(({ title }) => title),
    notRestored: result.restored.notRestored.map(({ what, why }) => `${what}: ${why}`),
    cost: result.cost,
    durationMs: result.durationMs,
  }
  const { out } = options
  if (out === undefined) return gathered(report)
  return writing(out, () => {
    const wrote = writeNewTranscript(out, (write) => {
      forEachRecordAt(session.path, { before: options.before }, write)
      for (const record of result.records) write(record)
    })
    if (wrote.type === 'refused')
      return failed(`${visible(out)} exists and is not overwritten. Give --out another name.`)
    return gathered({ ...report, out })
  })
}
