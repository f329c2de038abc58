// Finds the SDK's messages in a session that was opened again, and their entries.

import { defined, type JsonObject, objectAt } from '../../core/message/json.ts'
import { blocksOf, isToolResult, isToolUse, type Role } from '../../core/message/message.ts'
import { messageBodies } from '../../core/session/input.ts'
import { readBoundary } from '../../core/transcript/format/compaction-records.ts'
import { isUndoable, readEdit } from '../../core/transcript/format/edits.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import { messageOf } from '../../core/transcript/format/messages.ts'
import { withoutRewound } from '../../core/transcript/tree/changes.ts'
import { type KnownMessage, keyOf } from './converter.ts'

type WrittenMessage = { readonly uuid: string; readonly role: Role; readonly keys: string; readonly isSkipped: boolean }

export type SeededHistory<Foreign> = {
  /** The messages that the session has, with their entries. */
  readonly known: readonly KnownMessage<Foreign>[]
  /** The session has further messages of its own, and must be rewound to the last known one. */
  readonly hasOthers: boolean
}

export function seed<Foreign>(
  entries: Iterable<Entry>,
  given: readonly KnownMessage<Foreign>[],
): SeededHistory<Foreign> {
  const [first] = given
  const standing = sinceReplaced(withoutRewound([...entries], isOfAdapter))
  const isContext = first?.origin === 'summary'
  const context = isContext ? contextOf(first, standing) : standing
  // A context of another session replaces the messages of this one.
  if (!context) return { known: [], hasOthers: false }
  const written = writtenIn(context)
  const known: KnownMessage<Foreign>[] = []
  let at = 0
  for (const message of given) {
    const end = isContext && message === first ? 1 : indexAfter(message, written, at)
    if (end === undefined) break
    known.push({ ...message, uuid: written[end - 1]?.uuid })
    at = end
  }
  return { known, hasOthers: written.slice(at).some(({ isSkipped }) => !isSkipped) }
}

/**
 * Where to rewind if this entry is the last one to keep: the newest edit or compaction that directly follows it. Otherwise a
 * person's changes in between would be lost. No change after it that the person can undo removed messages that the caller no
 * longer has.
 */
export function rewindPoint(entries: Iterable<Entry>, uuid: string): string {
  const standing = withoutRewound([...entries], isOfAdapter).filter(({ record }) => typeof record.uuid === 'string')
  const at = standing.findIndex(({ record }) => record.uuid === uuid)
  if (at < 0) return uuid
  const rest = standing.slice(at + 1)
  const end = rest.findIndex((entry, index) => !isOfSession(entry, rest[index - 1]))
  return String((end < 0 ? rest : rest.slice(0, end)).at(-1)?.record.uuid ?? uuid)
}

/** Edits, boundaries, and records that a compaction wrote after its boundary: records that are no message of the caller. */
function isOfSession({ record }: Entry, before: Entry | undefined): boolean {
  if (readEdit(record) || readBoundary(record) || record.isCompactSummary === true) return true
  const isAfterSummary = before?.record.isCompactSummary === true || before?.record.type === 'attachment'
  return record.type === 'attachment' && isAfterSummary
}

/**
 * The adapter rewinds and clears if the caller has replaced messages. If a person does so, the context changes but the caller's
 * history still has those messages.
 */
function isOfAdapter(record: JsonObject): boolean {
  return !isUndoable(record)
}

function sinceReplaced(entries: readonly Entry[]): readonly Entry[] {
  const isReplaced = ({ record }: Entry) => objectAt(record, 'everlong')?.isCleared === true && isOfAdapter(record)
  return entries.slice(entries.findLastIndex(isReplaced) + 1)
}

/** The entries of the context that begins with this summary, in order. Undefined if the session has no such summary. */
function contextOf(
  { content: [summary] }: KnownMessage<unknown>,
  entries: readonly Entry[],
): readonly Entry[] | undefined {
  const key = looseKeys(summary ? [summary] : [])
  const isThis = ({ record }: Entry) =>
    record.isCompactSummary === true && looseKeys(messageOf(record)?.content) === key
  const at = entries.findLastIndex(isThis)
  const own = entries[at]
  if (!own) return undefined
  const byUuid = new Map(entries.map((entry) => [entry.record.uuid, entry]))
  const boundary = byUuid.get(own.record.parentUuid)
  const kept = boundary && readBoundary(boundary.record)?.kept
  const before = kept?.type === 'listed' ? kept.uuids.flatMap((uuid) => byUuid.get(uuid) ?? []) : []
  return [own, ...before, ...entries.slice(at + 1)]
}

/** The index after the records of this message. Undefined if the session has a different message here. */
function indexAfter(
  { role, content, origin }: KnownMessage<unknown>,
  written: readonly WrittenMessage[],
  from: number,
): number | undefined {
  let at = from
  for (const body of messageBodies({ role, content, ...defined({ origin }) })) {
    const keys = looseKeys((body.message as { readonly content?: unknown } | undefined)?.content)
    const isThis = (one: WrittenMessage | undefined) => one?.role === role && one.keys === keys
    while (written[at]?.isSkipped === true && !isThis(written[at])) at++
    if (!isThis(written[at])) return undefined
    at++
  }
  return at
}

function writtenIn(entries: readonly Entry[]): readonly WrittenMessage[] {
  return entries.flatMap(({ record }) => {
    const message = record.isSidechain === true ? undefined : messageOf(record)
    if (!message || message.uuid === undefined) return []
    const { uuid, role, origin } = message
    const isSkipped = origin === 'summary' || origin === 'attachment' || origin === 'meta'
    return [{ uuid, role, keys: looseKeys(message.content), isSkipped }]
  })
}

/** Compares calls and results by id, because large results are stored shortened. */
function looseKeys(content: unknown): string {
  return blocksOf(content)
    .map((block) => {
      if (isToolUse(block)) return `use ${block.id}`
      return isToolResult(block) ? `result ${block.tool_use_id}` : keyOf(block)
    })
    .join(' ')
}
