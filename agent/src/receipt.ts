// The receipt of a compaction: one line for the person, with details on demand. It is read from the records of the compaction, so
// it can be shown again after a resume.

import type { Entry } from 'everlong'
import {
  arrayAt,
  isObject,
  type JsonObject,
  messagesOf,
  numberAt,
  objectAt,
  readBoundary,
  stringAt,
  textOf,
  type ViewMessage,
} from 'everlong/internal'
import type { Session } from 'everlong/node'
import { count, counted, exactDollars, seconds } from './render/numbers.ts'

export type Receipt = {
  /** Uuid of the boundary, which identifies the compaction. */
  readonly uuid: string
  readonly trigger: string
  readonly mechanism: string
  /** Undefined if no model wrote the summary. */
  readonly model?: string
  readonly before: number
  readonly after: number
  readonly durationMs: number
  /** In US dollars. Undefined if nothing was spent or the price is unknown. */
  readonly cost?: number
  readonly instructions?: string
  readonly summary: string
  /** Number of the person's messages since the previous compaction, and how many the new context has verbatim. */
  readonly kept: { readonly total: number; readonly verbatim: number }
  /** Parts that code marked in the summary or added to it, with reasons. */
  readonly annotations: readonly Annotation[]
  readonly restored: readonly { readonly kind: string; readonly title: string }[]
  /** Items that could not be restored, with reasons. */
  readonly notRestored?: string
}

export type Annotation = { readonly text: string; readonly reason: string }

/** Receipts of all compactions among these records, in order. */
export function receiptsIn(records: readonly JsonObject[]): readonly Receipt[] {
  const starts = records.flatMap((record, at) => (readBoundary(record) ? [at] : []))
  return starts.map((start, nth) => receiptOf(records.slice(start, starts[nth + 1])))
}

function receiptOf([boundary = {}, ...rest]: readonly JsonObject[]): Receipt {
  const { trigger = 'manual', preTokens = 0, postTokens = 0, durationMs = 0 } = readBoundary(boundary) ?? {}
  const data = objectAt(boundary, 'compactMetadata')
  const own = objectAt(objectAt(boundary, 'everlong'), 'compaction')
  const fidelity = objectAt(own, 'fidelity')
  const human = objectAt(fidelity, 'humanMessages')
  const summary = rest.find(({ isCompactSummary }) => isCompactSummary === true)
  const attachments = rest.map((record) => objectAt(record, 'attachment')).filter((each) => each !== undefined)
  const optional = {
    model: stringAt(own, 'model'),
    cost: numberAt(own, 'cost'),
    instructions: stringAt(data, 'userContext') || undefined,
    notRestored: attachments
      .map((each) => (each.type === 'not_restored' ? stringAt(each, 'content') : undefined))
      .find(Boolean),
  }
  return {
    uuid: stringAt(boundary, 'uuid') ?? '',
    trigger,
    mechanism: stringAt(own, 'mechanism') ?? 'unknown',
    before: preTokens,
    after: postTokens,
    durationMs,
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as Partial<Receipt>),
    summary: textOf(contentOf(summary)),
    kept: { total: numberAt(human, 'total') ?? 0, verbatim: numberAt(human, 'verbatim') ?? 0 },
    annotations: annotationsIn(fidelity),
    restored: attachments.flatMap(restoredIn),
  }
}

function contentOf(record: JsonObject | undefined) {
  const content = objectAt(record, 'message')?.content
  return typeof content === 'string' || Array.isArray(content) ? content : ''
}

function restoredIn(attachment: JsonObject): Receipt['restored'] {
  if (attachment.isRestored !== true || attachment.type === 'not_restored') return []
  const [title = ''] = (stringAt(attachment, 'content') ?? '').split('\n', 1)
  return [{ kind: String(attachment.type), title: stringAt(attachment, 'filename') ?? title }]
}

const marked = {
  falseQuotes: 'No message of yours has these words.',
  inferredApprovals: 'No message of yours says that you agreed.',
  contradicted: 'The conversation last showed something else.',
  unsupported: 'It occurs nowhere in the conversation.',
  missingSections: 'The model left this section out.',
} as const

function annotationsIn(fidelity: JsonObject | undefined): readonly Annotation[] {
  const lists = Object.entries(marked).flatMap(([field, reason]) =>
    arrayAt(fidelity, field).map((text) => ({ text: isObject(text) ? JSON.stringify(text) : String(text), reason })),
  )
  const human = objectAt(fidelity, 'humanMessages')
  const putIn = numberAt(human, 'putIn') ?? 0
  const shortened = numberAt(human, 'shortened') ?? 0
  const added =
    putIn > 0
      ? [{ text: `${putIn} of your messages`, reason: 'Missing in the summary, so added from the transcript.' }]
      : []
  const cut = shortened > 0 ? [{ text: `${shortened} of your messages`, reason: 'Too long to keep whole.' }] : []
  return [...added, ...cut, ...lists]
}

/** `Compacted 41,200 → 9,800 tokens in 3.1 s (direct, $0.0214); kept 12 of your 12 messages word for word; restored 3 pieces` */
export function receiptLine({ before, after, durationMs, mechanism, cost, kept, restored }: Receipt): string {
  const price = cost === undefined ? '' : `, ${exactDollars(cost)}`
  const parts = [
    `Compacted ${count(before)} → ${count(after)} tokens in ${seconds(durationMs)} (${mechanism}${price})`,
    ...(kept.total === 0 ? [] : [`kept ${kept.verbatim} of your ${counted(kept.total, 'message')} word for word`]),
    ...(restored.length === 0 ? [] : [`restored ${counted(restored.length, 'piece')}`]),
  ]
  return parts.join('; ')
}

/** The messages that the compaction summarized: from the previous boundary up to its own. */
export async function originalOf(session: Session, uuid: string): Promise<readonly ViewMessage[]> {
  let entries: Entry[] = []
  for (const entry of await session.entries()) {
    if (stringAt(entry.record, 'uuid') === uuid) return messagesOf(entries)
    if (readBoundary(entry.record)) entries = []
    entries.push(entry)
  }
  return []
}
