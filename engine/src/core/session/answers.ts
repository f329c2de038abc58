// What an answer brings with it: its record, what the server left out, what the cache did, how good the estimate was.
import { type BreakCause, type CacheBreak, watchAnswer } from '../cache/break-detector.ts'
import { afterAnswer, afterCacheBreak } from '../cache/edit-state.ts'
import type { Fingerprint, RequestParts } from '../cache/fingerprint.ts'
import { cacheLifetimes, lifetimeWritten } from '../cache/state.ts'
import { modelFacts } from '../catalog/models.ts'
import { learnFromEnd, windowEnded } from '../ladder/window-ends.ts'
import { appliedEdits } from '../mechanisms/native/server-cleared.ts'
import { numberAt } from '../message/json.ts'
import { billedCounts, contextTokens, readUsage, type Usage } from '../message/usage.ts'
import { recalibrateModel } from '../tokens/estimate/calibrate.ts'
import type { View } from '../transcript/view/fold.ts'
import { countingFor, type Desk, sizeOf } from './desk.ts'
import { type AnswerMessage, answerMessage, type GivenAnswer } from './given.ts'
import { answerBody } from './records.ts'
import { withSpent } from './spent.ts'
import { withAnswer } from './tracking.ts'

/** The request that was sent, and the one before it: to say what changed when the cache was missed. */
export type Sent = { readonly now?: RequestParts; readonly before?: RequestParts }

export type AnswerInput = {
  /** Of its entry. */
  readonly uuid: string
  readonly given: GivenAnswer
  readonly sent: Sent
  readonly printOf: (parts: RequestParts) => Fingerprint
  /** The view has changed since the request was made: the answer's usage says nothing about it. */
  readonly isOutdated: boolean
}

/** Returns the message as it was stored. Looks at the whole view only where the answer reports its usage. */
export function recordAnswer(desk: Desk, input: AnswerInput): AnswerMessage {
  const { conversation, ports } = desk
  const message = withOwnId(answerMessage(input.given, { id: ports.newId(), model: desk.modelName }), desk)
  const usage = readUsage(message.usage)
  if (usage && !input.isOutdated) learnFrom(desk, conversation.view(), usage)
  conversation.append([answerBody(message, input)], [input.uuid])
  desk.tracking = withAnswer(desk.tracking)
  const isCleared = noteCleared(desk, message)
  if (!usage) return message
  if (message.stop_reason === windowEnded && !input.isOutdated) learnFromEnd(desk, contextTokens(usage))
  desk.spent = withSpent(desk.spent, { source: 'turn', usage: billedCounts(usage), model: desk.modelName })
  const isRewritten = isCleared || usage.iterations?.some(({ type }) => type === 'compaction')
  watchCache(desk, input, { usage, message, isRewritten })
  return message
}

/** Entries that share an id are pieces of one answer; a client that gives all its answers the same one means several. */
function withOwnId(message: AnswerMessage, { conversation, ports }: Desk): AnswerMessage {
  return conversation.hasAnswer(message.id) ? { ...message, id: ports.newId() } : message
}

/** One and the same text, by our estimate and as it was counted: what came since the answer before. */
function learnFrom(desk: Desk, view: View, usage: Usage): void {
  const { lessons, modelName } = desk
  const size = sizeOf(desk, view)
  if (size.freed !== undefined || (size.source === 'estimate' && view.edits.length > 0)) return
  const factor = countingFor(desk, modelName).calibration?.factor ?? 1
  const reported = usage.input + usage.cacheRead + usage.cacheWrite - size.reported
  const estimated = (size.estimated * 3) / 4 / factor
  if (usage.iterations || reported <= 0) return
  lessons.calibrations = recalibrateModel(lessons.calibrations, modelName, { estimated, reported })
}

/** The server tells of the whole history each time: written down when it is another number. */
function noteCleared({ conversation }: Desk, message: AnswerMessage): boolean {
  const told = appliedEdits(message)
  if (told.length === 0) return false
  const known = conversation.view().edits.findLast(({ edit }) => edit.type === 'server-cleared')?.edit
  if (JSON.stringify(told[0]) === JSON.stringify(known)) return false
  conversation.edit(told)
  return true
}

type Told = { readonly usage: Usage; readonly message: AnswerMessage; readonly isRewritten: boolean | undefined }

function watchCache(desk: Desk, { sent, printOf }: AnswerInput, { usage, message, isRewritten }: Told): void {
  const { tracking, ports, modelName } = desk
  const time = ports.now()
  const deletedTokens = numberAt(message.usage, 'cache_deleted_input_tokens')
  if (usage.cacheWrite > 0) {
    desk.cacheLifetime = lifetimeWritten(usage)
  }
  const lifetime = desk.cacheLifetime ?? cacheLifetimes.long
  const seen = { usage, time, deletedTokens, isRewritten, lifetime, answer: message }
  const { watch, found } = watchAnswer(tracking.watch, seen)
  // Deletions are relative to the prefix that is gone. What the server leaves out is not: it reads the history each time.
  const isStale = found !== undefined && desk.model.capabilities(modelName).cacheEdits
  const cacheEdits = isStale ? afterCacheBreak() : afterAnswer(tracking.cacheEdits, { deletedTokens })
  desk.tracking = { ...tracking, watch, cacheEdits }
  if (!found) return
  // Fingerprints are taken only now: nearly every answer finds its cache.
  const { baseline } = tracking.watch
  const print = sent.before && printOf(sent.before)
  const explained = watchAnswer(
    { ...tracking.watch, ...(baseline ? { baseline: { ...baseline, print } } : {}) },
    { ...seen, print: sent.now && printOf(sent.now) },
  ).found
  tellBreak(desk, explained ?? found, modelFacts(modelName)?.price?.input)
}

function tellBreak(desk: Desk, { causes, dropped, diagnosis }: CacheBreak, price: number | undefined): void {
  const why = [...causes.map(causeInWords), ...(diagnosis ? [`the API says ${diagnosis.reason}`] : [])].join('; ')
  const cost = price === undefined ? {} : { cost: (dropped * price) / 1_000_000 }
  desk.emit({ type: 'cache-broken', why, tokens: dropped, ...cost })
}

function causeInWords(cause: BreakCause): string {
  switch (cause.type) {
    case 'model-changed':
      return `the model changed from ${cause.from} to ${cause.to}`
    case 'tools-changed':
      return 'the tools changed'
    case 'system-changed':
      return 'the system prompt changed'
    case 'messages-changed':
      return `message ${cause.message} changed`
    case 'expired':
      return `the cache expired after ${Math.round(cause.lifetime / 60_000)} minutes`
    case 'unknown':
      return 'no cause is known here'
  }
}
