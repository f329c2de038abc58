// `everlong compact`: makes a context to continue a session with, from now or from any entry. Prints it, writes the compacted
// session to a new file, or appends the compaction to the session. Never overwrites anything.

import { randomUUID } from 'node:crypto'
import { visible } from '@everlong/agent/render'
import { countTokens, type Failed, type Message, StoreError } from 'everlong'
import type { Format, JsonObject, ViewMessage } from 'everlong/internal'
import {
  type Compaction,
  type CompactionPlan,
  compactionOff,
  type FidelityReport,
  piCompactionRecord,
  type Tried,
} from 'everlong/internal/compaction'
import {
  forEachRecordAt,
  heldMessage,
  openWriter,
  type ReadFile,
  readFile,
  readTranscript,
  type Transcript,
  writeNewTranscript,
} from 'everlong/internal/node'
import type { Io } from '../../io.ts'
import type { ModelSpec } from '../../option-values.ts'
import { failed, gathered, noPlaceFor, noTranscript, type Outcome, opening, writing } from '../../outcome.ts'
import { createProgress } from '../../progress.ts'
import { countingOf } from '../../session.ts'
import { chooseModel, noRecordedSummary } from './model.ts'
import { createCompactProgress } from './progress.ts'

export type CompactOptions = {
  readonly before?: string
  readonly from?: string
  readonly upTo?: string
  readonly model?: ModelSpec
  readonly instructions?: string
  readonly budget?: number
  readonly dryRun?: boolean
  readonly out?: string
  readonly append?: boolean
  readonly json?: boolean
}

export type CompactReport = {
  readonly file: string
  readonly before?: string
  /** The new context, or the old one if nothing was done. */
  readonly messages: readonly Message[]
  /** Estimated tokens of the messages, which `--budget` limits. */
  readonly tokens: { readonly before: number; readonly after: number }
  /** Size of the whole context: the reported one, and the expected one of the next answer. */
  readonly size: { readonly before: number; readonly after: number }
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
  /** For --dry-run: the planned compaction. */
  readonly plan?: CompactionPlan
  readonly failed?: { readonly reason: string; readonly why: string }
  /** For --out: the new file. */
  readonly out?: string
  /** For --append: the agent that can resume the session from its summary. */
  readonly appendedFor?: Format
}

type Asked = CompactOptions & { readonly io: Io }

export async function gather(file: string, options: Asked): Promise<Outcome<CompactReport>> {
  const trouble = options.out === undefined ? undefined : noPlaceFor(options.out)
  if (trouble) return failed(trouble)
  const made = await compactSession(file, options)
  if (made.type === 'failed' || made.report.records.length === 0) return onlyReport(made)
  const problem = options.append || options.out !== undefined ? notWritable(made.report.session, options) : undefined
  if (problem !== undefined) return failed(`nothing was written. ${visible(file)}: ${problem}`)
  return options.append ? appended(made.report) : written(made.report, options)
}

/** A compaction that is not written anywhere yet. */
export type MadeCompaction = {
  readonly report: CompactReport
  readonly session: Transcript
  /** Records to append to the session. Empty if nothing was done. */
  readonly records: readonly JsonObject[]
  /** The user's latest request at the end of the new context. */
  readonly request?: string | undefined
}

export async function compactSession(file: string, options: Asked): Promise<Outcome<MadeCompaction>> {
  const { io, model: spec = { type: 'offline' }, dryRun } = options
  const off = compactionOff({ environment: io.env })
  if (off !== undefined) return failed(`${off} Unset it to compact.`)
  let recordedSummary: string | undefined
  const model = chooseModel(spec, { env: io.env, recordedSummary: () => recordedSummary ?? '' })
  const opened = await open(file, { model, environment: io.env, ports: { now: io.now } }, options)
  if (opened.type === 'failed') return opened
  const { transcript, session } = opened.report
  recordedSummary = transcript.recordedSummary
  if (spec.type === 'recorded' && recordedSummary === undefined) return failed(noRecordedSummary)
  if (dryRun) return planned(opened.report, await session.plan(draftOf(options)), options)
  const progress = createCompactProgress(io)
  session.on(progress.onEvent)
  try {
    const result = await session.compact({ ...draftOf(options), signal: progress.signal })
    if (result.type === 'failed') return notDone(opened.report, result)
    const records = recordsFor(transcript, result)
    const { request } = result
    return gathered({ report: reportOf(transcript, result, options), session: transcript, records, request })
  } finally {
    progress.end()
  }
}

/** In the session's own format if its agent can continue from a compaction, otherwise in Claude Code's. */
function recordsFor({ format, lastUuid }: Transcript, result: Compaction): readonly JsonObject[] {
  const [boundary] = result.records
  if (format !== 'pi' || lastUuid === undefined) return result.records
  const place = { id: randomUUID(), parentId: lastUuid, timestamp: String(boundary?.timestamp) }
  return [piCompactionRecord(result, place)]
}

/** The reason why this compaction cannot be written into a session of this agent. */
function notWritable({ format, lastUuid = '' }: Transcript, { from }: CompactOptions): string | undefined {
  if (format !== 'pi') return undefined
  if (from !== undefined) return 'pi keeps the newest messages only. Use --up-to instead of --from.'
  // The reader's names for entries without an id.
  return /^pi-\d+$/.test(lastUuid) ? 'It is in an old format of pi. Open it once in pi, which updates it.' : undefined
}

function onlyReport(made: Outcome<MadeCompaction>): Outcome<CompactReport> {
  return made.type === 'failed' ? made : { ...made, report: made.report.report }
}

type ReadOptions = Parameters<typeof readFile>[1]

function open(file: string, engine: ReadOptions['engine'], { before, io }: Asked): Promise<Outcome<ReadFile>> {
  return opening(file, async () => {
    const progress = createProgress(io)
    try {
      const past = before === undefined ? {} : { before }
      const read = await readFile(file, { engine, ...past, onProgress: progress.show })
      return read.transcript.lastUuid === undefined ? failed(noTranscript(file)) : gathered(read)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      return failed(
        `no entry of ${visible(file)} has the uuid ${visible(before ?? '')}. See everlong inspect --tree and --epochs.`,
      )
    } finally {
      progress.clear()
    }
  })
}

function draftOf({ from, upTo, instructions, budget }: CompactOptions) {
  return {
    ...(from === undefined ? {} : { from }),
    ...(upTo === undefined ? {} : { upTo }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(budget === undefined ? {} : { budget }),
  }
}

const bare = (messages: readonly ViewMessage[]): readonly Message[] =>
  messages.map(({ role, content }) => ({ role, content }))

function unchanged({ session, transcript }: ReadFile): CompactReport {
  const { messages } = transcript.view
  const explanation = session.explain()
  const { model, size } = explanation
  const counting = { ...countingOf(transcript, explanation), ...(model === undefined ? {} : { model }) }
  const tokens = countTokens(messages, counting)
  return {
    file: transcript.path,
    messages: bare(messages),
    tokens: { before: tokens, after: tokens },
    size: { before: size.tokens, after: size.tokens },
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

function planned(read: ReadFile, plan: CompactionPlan, { before }: Asked): Outcome<MadeCompaction> {
  const named = before === undefined ? {} : { before }
  const report = { ...unchanged(read), ...named, plan }
  return gathered({ report, session: read.transcript, records: [] }, plan.type === 'planned' ? 0 : 1)
}

function notDone(read: ReadFile, { reason, why, tried }: Failed): Outcome<MadeCompaction> {
  const report = { ...unchanged(read), tried, failed: { reason, why } }
  return {
    type: 'gathered',
    report: { report, session: read.transcript, records: [] },
    exitCode: 1,
    complaint: `nothing was compacted (${reason}): ${why}`,
  }
}

function reportOf(session: Transcript, result: Compaction, options: Asked): CompactReport {
  return {
    file: session.path,
    ...(options.before === undefined ? {} : { before: options.before }),
    messages: bare(result.messages),
    tokens: result.tokens,
    size: { before: result.before, after: result.after },
    mechanism: result.mechanism,
    model: result.model,
    fidelity: result.fidelity,
    tried: result.tried,
    kept: result.keptUuids.length,
    summarized: session.view.sources.flatMap(({ uuids }) => uuids).length - result.keptUuids.length,
    restored: result.restored.pieces.map(({ title }) => title),
    notRestored: result.restored.notRestored.map(({ what, why }) => `${what}: ${why}`),
    cost: result.cost,
    durationMs: result.durationMs,
  }
}

function written({ report, session, records }: MadeCompaction, { out, before }: Asked): Outcome<CompactReport> {
  if (out === undefined) return gathered(report)
  return writing(out, () => {
    const isNew = writeNewTranscript(out, (write) => {
      forEachRecordAt(session, { before }, write)
      for (const record of records) write(record)
    })
    if (!isNew) return failed(`${visible(out)} exists and is not overwritten. Give --out another name.`)
    return gathered({ ...report, out })
  })
}

async function appended({ report, session, records }: MadeCompaction): Promise<Outcome<CompactReport>> {
  const { path, format, entry, lastUuid } = session
  const why = (reason: string) => failed(`nothing was written. ${visible(reason)}`)
  if (format !== 'claude-code' && format !== 'pi')
    return why(`${path} is a session of another agent (${format}). Use --out.`)
  const knows = (uuid: string) => entry(uuid) !== undefined
  const opened = await openWriter(path, { owner: 'everlong compact', knows })
  if (opened.type === 'held') return why(heldMessage(path, opened.by))
  if (opened.type === 'open-failed') return why(opened.message)
  const { writer } = opened
  try {
    // A running agent does not take the lease.
    if (readTranscript(path).lastUuid !== lastUuid) return why('The session went on meanwhile. Try again.')
    const result = writer.appendAll(records)
    if (result.type === 'appended') return gathered({ ...report, appendedFor: format })
    return why('message' in result ? result.message : 'The session could not be written.')
  } finally {
    writer.close()
  }
}
