// Records an answer: its entry, what the server left out, what the cache did, how good the estimate was.
import { missedBecause, noCacheEdits, type RequestParts, watchAnswer } from '../cache/cache-watch.ts'
import { cacheStateOf } from '../cache/economics.ts'
import { modelFacts } from '../catalog/models.ts'
import { appliedEdits } from '../mechanisms/server-edits.ts'
import { defined, numberAt } from '../message/json.ts'
import { billedCounts, contextTokens, readUsage, type Usage } from '../message/usage.ts'
import type { View } from '../transcript/view/fold.ts'
import { addedSince } from './background-compaction.ts'
import { type AnswerMessage, type ApiAnswer, answerMessage } from './input.ts'
import { windowExceeded } from './recovery.ts'
import type { Runtime } from './runtime.ts'

export type RecordInput = {
  /** Of its entry. */
  readonly uuid: string
  readonly answer: ApiAnswer
  /** The last two requests, to say what changed when the cache was missed. */
  readonly sent: { readonly now?: RequestParts; readonly before?: RequestParts }
  /** The view that the answered request was made from. */
  readonly pending: View | undefined
}

/** Returns the message as it was stored. */
export function recordAnswer(runtime: Runtime, input: RecordInput): AnswerMessage {
  const { conversation, gauge, ports, tracker, usage: meter } = runtime
  const { uuid, pending } = input
  const given = answerMessage(input.answer, { id: ports.newId(), model: gauge.model().name })
  // Entries with the same message id are parts of one answer, so an id that is taken is replaced.
  const message = conversation.hasAnswer(given.id) ? { ...given, id: ports.newId() } : given
  const usage = readUsage(message.usage)
  // The view or the model has changed since the request: the usage counts for the bill, but says nothing about the size.
  const isOtherModel = input.sent.now?.model !== gauge.model().name
  const isOutdated = pending !== undefined && (isOtherModel || !addedSince(pending, conversation.view()))
  if (usage && pending && !isOutdated) gauge.calibrate(usage, pending)
  const { usage: billed, ...rest } = message
  const outdated = { message: rest, everlong: { usage: billed } }
  conversation.append([{ type: 'assistant', ...(isOutdated ? outdated : { message }) }], [uuid])
  tracker.answer()
  const isCleared = noteCleared(runtime, message)
  if (!usage) return message
  if (message.stop_reason === windowExceeded && !isOutdated) gauge.learnFromFullWindow(contextTokens(usage))
  meter.add({ source: 'turn', usage: billedCounts(usage), model: gauge.model().name })
  const isRewritten = isCleared || usage.iterations?.some(({ type }) => type === 'compaction')
  watchCache(runtime, input, { usage, message, isRewritten })
  return message
}

/** The server reports the whole history each time; it is written down when it differs from the last report. */
function noteCleared({ conversation }: Runtime, message: AnswerMessage): boolean {
  const told = appliedEdits(message)
  if (told.length === 0) return false
  const known = conversation.view().edits.findLast(({ edit }) => edit.type === 'server-cleared')?.edit
  if (JSON.stringify(told[0]) === JSON.stringify(known)) return false
  conversation.edit(told)
  return true
}

type Reported = { readonly usage: Usage; readonly message: AnswerMessage; readonly isRewritten: boolean | undefined }

function watchCache(runtime: Runtime, { sent }: RecordInput, reported: Reported): void {
  const { conversation, gauge, tracker, ports } = runtime
  const { usage, message, isRewritten } = reported
  const { client, name } = gauge.model()
  const { watch: last, cacheEdits } = tracker.now()
  const deletedTokens = numberAt(message.usage, 'cache_deleted_input_tokens')
  const time = ports.now()
  const { watch, dropped } = watchAnswer(last, { cacheRead: usage.cacheRead, time, deletedTokens, isRewritten })
  // Cache edits are relative to the prefix that is gone. What the server clears is not: it reads the history each time.
  const isStale = dropped > 0 && client.capabilities(name).cacheEdits
  const { asked: _, ...counted } = cacheEdits
  tracker.set({ watch, cacheEdits: isStale ? noCacheEdits : counted })
  if (dropped === 0) return
  const idle = time - (last.baseline?.time ?? time)
  const { lifetime } = cacheStateOf({ messages: conversation.view().messages, now: time })
  const why = missedBecause({ ...sent, idle, lifetime, answer: message }).join('; ')
  const price = modelFacts(name)?.price?.input
  const cost = price === undefined ? undefined : (dropped * price) / 1_000_000
  ports.emit({ type: 'cache-broken', why, tokens: dropped, ...defined({ cost }) })
}
