// The effects of the edits in force on each row of the view: the messages that they change, hide or keep, and the content that is
// left. The original does not change, and a message without cleared content is returned as the same object.

import { isObject } from '../../message/json.ts'
import { groupBy } from '../../message/maps.ts'
import {
  type Block,
  blocksOf,
  type Content,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type ToolResultBlock,
  type ToolUseBlock,
  type ViewMessage,
} from '../../message/message.ts'
import { withoutMiddle } from '../../text/cut.ts'
import type { Edit } from '../format/edits.ts'
import type { Entry, Head } from '../format/entry.ts'
import { clearedText, withoutResults } from '../format/messages.ts'
import type { Change } from '../tree/changes.ts'

export type EditAt = Change & { readonly edit: Edit }
export type RangeAt = EditAt & { readonly edit: Extract<Edit, { readonly type: 'drop-range' | 'replace-range' }> }

/** The rows of the view in order, and how to find them. Rows are counted over the whole transcript. */
export type LiveRows = {
  readonly order: readonly number[]
  /** The index of a row in the order; -1 if it is not in the view. */
  readonly placeOf: (row: number) => number
  readonly rowOf: (uuid: string) => number
  readonly rows: readonly { readonly head: Head; readonly entry: Entry }[]
  /** Whether a model sees anything of it. */
  readonly isVisible: (row: number) => boolean
}

/** A row of the view that an edit refers to, the id by which it names the row or a call in it, and the stub of that call. */
type Target = { readonly row: number; readonly id?: string; readonly stub?: string | undefined }
/** By the row of an edit, in force or not. */
export type Targets = ReadonlyMap<number, readonly Target[]>

export function targetsOf(changes: readonly Change[], live: LiveRows): Targets {
  if (changes.length === 0) return new Map()
  const { order, rows, rowOf, placeOf, isVisible } = live
  const visible = order.filter(isVisible)
  const byId = (ids: 'toolUses' | 'toolResults') => {
    const targets = visible.flatMap((row) => (rows[row]?.head[ids] ?? []).map((id): Target => ({ row, id })))
    return groupBy(targets, ({ id }) => id)
  }
  const [uses, results] = [byId('toolUses'), byId('toolResults')]
  const entry = (id: string): readonly Target[] => {
    const row = rowOf(id)
    return row >= 0 && isVisible(row) && placeOf(row) >= 0 ? [{ row, id }] : []
  }
  const span = (found: readonly number[]) => found.filter(isVisible).map((row) => ({ row }))
  const targetsAt = (row: number, edit: Edit): readonly Target[] => {
    if (edit.type === 'clear-results') {
      const cleared = edit.toolUseIds.flatMap((id, at) => withStub(results.get(id) ?? [], edit.stubs?.[at]))
      return [...cleared, ...(edit.attachments ?? []).flatMap(entry)]
    }
    if (edit.type === 'clear-inputs') return edit.toolUseIds.flatMap((id) => uses.get(id) ?? [])
    if (edit.type === 'clear-media') return edit.uuids.flatMap(entry)
    if (edit.type === 'replace-content') return entry(edit.uuid)
    if (edit.type === 'clear-thinking') return span(thinkingSpan(row, edit, live))
    return 'from' in edit ? span(rangeSpan(edit, live)) : []
  }
  return new Map(changes.flatMap(({ row, edit }) => (edit ? [[row, targetsAt(row, edit)]] : [])))
}

function withStub(targets: readonly Target[], stub: string | undefined): readonly Target[] {
  return stub ? targets.map((target) => ({ ...target, stub })) : targets
}

type Effect = Omit<Target, 'row'> & { readonly at: EditAt }

export type Effects = {
  /** By row: the edits of its message, in order. */
  readonly edits: ReadonlyMap<number, readonly Effect[]>
  /** By row: the newest edit that removed it. */
  readonly ranges: ReadonlyMap<number, RangeAt>
  readonly pinned: ReadonlySet<string>
}

/** `inForce` are the edits in force, in the order of the transcript. */
export function effectsOf(inForce: readonly EditAt[], live: LiveRows, targets: Targets): Effects {
  const edits = new Map<number, Effect[]>()
  const ranges = new Map<number, RangeAt>()
  const pinned = new Set<string>()
  for (const at of inForce) {
    if (at.edit.type === 'pin') pinned.add(at.edit.uuid)
    if (at.edit.type === 'unpin') pinned.delete(at.edit.uuid)
    for (const { row, ...target } of targets.get(at.row) ?? []) {
      const own = edits.get(row)
      if (isRange(at)) ranges.set(row, at)
      else if (own) own.push({ at, ...target })
      else edits.set(row, [{ at, ...target }])
    }
  }
  for (const row of pinned.size === 0 ? [] : protectedRows({ ranges, pinned }, live)) ranges.delete(row)
  return { edits, ranges, pinned }
}

/** A pinned call keeps its result, and a pinned result its call, because one is useless without the other. */
function protectedRows({ ranges, pinned }: Pick<Effects, 'ranges' | 'pinned'>, live: LiveRows): readonly number[] {
  if (ranges.size === 0) return []
  const answerOf = answersOf(live)
  const answers = new Set([...pinned].map((uuid) => answerOf(live.rowOf(uuid))))
  return [...ranges.keys()].filter((row) => {
    const answer = answerOf(row)
    return pinned.has(live.rows[row]?.head.uuid ?? '') || (answer !== undefined && answers.has(answer))
  })
}

/** The id of the answer that a row is part of, or has a result for. */
function answersOf({ rows, rowOf }: LiveRows): (row: number) => string | undefined {
  const ofCall = new Map<string, string | undefined>()
  for (const [row, { head }] of rows.entries()) {
    if (head.toolUses.length === 0 || rowOf(head.uuid ?? '') !== row) continue
    for (const id of head.toolUses) if (!ofCall.has(id)) ofCall.set(id, head.messageId)
  }
  return (row) => {
    const head = rows[row]?.head
    if (head?.messageId !== undefined) return head.messageId
    const call = head?.toolResults.find((id) => ofCall.has(id))
    return call === undefined ? undefined : ofCall.get(call)
  }
}

export const clearedContext = '[Old context cleared]'

/** The message at a row after the edits, and the edits that changed it. Undefined if nothing is left. */
export function editedMessage(message: ViewMessage, row: number, { edits, pinned }: Effects) {
  const own = edits.get(row)
  if (!own) return { message, edits: [] }
  const { uuid = '', attachment } = message
  const used = new Set<string>()
  /** The newest of several edits counts. */
  const find = (type: Edit['type'], named?: string) => {
    const found = own.findLast(({ at, id }) => at.edit.type === type && (named === undefined || id === named))
    if (found) used.add(found.at.uuid)
    return found
  }
  const newest = <Type extends Edit['type']>(type: Type, named?: string) =>
    find(type, named)?.at.edit as Extract<Edit, { readonly type: Type }> | undefined
  let now: ViewMessage | undefined = message
  if (!pinned.has(uuid)) {
    const isContext = attachment !== undefined && newest('clear-results', uuid)
    if (isContext) return { message: { ...message, content: clearedContext }, edits: [...used] }
    const replacing = newest('replace-content')
    if (replacing) return { message: withContent(message, replacing.content), edits: [...used] }
    now = withoutResults(now, (result) => clearedBy(find('clear-results', result.tool_use_id), result))
    now = withoutInputs(now, (id) => newest('clear-inputs', id) !== undefined)
    const media = newest('clear-media')
    if (media) now = withoutMedia(now, uuid === media.uuids.at(-1) ? media.keep : 0)
  }
  const isThought = now.role === 'assistant' && blocksOf(now.content).some(isThinking)
  if (isThought && newest('clear-thinking')) now = withoutThinking(now)
  return { message: now, edits: [...used] }
}

function clearedBy(effect: Effect | undefined, result: ToolResultBlock): ToolResultBlock['content'] | undefined {
  const edit = effect?.at.edit
  if (edit?.type !== 'clear-results') return undefined
  const { keep, recall = false } = edit
  if (keep !== undefined) return shortenedResult(result, { keep, recall })
  return clearedResult({ stub: effect?.stub, recall: recall ? result.tool_use_id : undefined })
}

function isRange(at: EditAt): at is RangeAt {
  return at.edit.type === 'drop-range' || at.edit.type === 'replace-range'
}

/** In the order of the view, or of the transcript if a compaction removed one end of the range from the view. */
function rangeSpan(
  { from, to }: { readonly from: string; readonly to: string },
  { order, placeOf, rowOf, rows }: LiveRows,
): readonly number[] {
  const ends = [rowOf(from), rowOf(to)].toSorted((a, b) => a - b)
  const [first = -1, last = -1] = ends
  if (first < 0) return []
  const places = ends.map(placeOf)
  if (!places.includes(-1)) return order.slice(Math.min(...places), Math.max(...places) + 1)
  // Kept messages come before the summary in the transcript and after it in the view, so it is not between them.
  return order.filter((row) => row >= first && row <= last && rows[row]?.entry.record.isCompactSummary !== true)
}

/** Whole answers, because the API refuses one that lost half of its thinking. Never answers after the edit. */
function thinkingSpan(
  at: number,
  { after, before }: { readonly after?: string; readonly before?: string },
  live: LiveRows,
): readonly number[] {
  const isAfter = after === undefined ? () => true : sideOf(after, live, (a, b) => a > b)
  const isBefore = before === undefined ? () => true : sideOf(before, live, (a, b) => a < b)
  const isIn = (row: number) => row < at && isAfter(row) && isBefore(row)
  const idOf = (row: number) => live.rows[row]?.head.messageId
  const answers = new Set(live.order.filter(isIn).map(idOf))
  answers.delete(undefined)
  return live.order.filter((row) => isIn(row) || (row < at && answers.has(idOf(row))))
}

function sideOf(
  uuid: string,
  { rowOf, placeOf }: LiveRows,
  compare: (a: number, b: number) => boolean,
): (row: number) => boolean {
  const end = rowOf(uuid)
  if (end < 0) return () => false
  const place = placeOf(end)
  return (row) => (place < 0 ? compare(row, end) : compare(placeOf(row), place))
}

/** The text that replaces a cleared result: a description, and with recall on how to get the original. */
export function clearedResult(about: {
  readonly stub?: string | undefined
  readonly recall?: string | undefined
}): string {
  const { stub = '', recall } = about
  const how = recall === undefined ? '' : ` Recall it by its id: ${recall}`
  return `${clearedText}${stub === '' ? '' : ` ${stub}${how === '' ? '' : '.'}`}${how}`
}

/** In characters. Leaves room for the line in the middle. */
export const minKept = 1_000
const maxNameLength = 200

/** The start, the end, and a line between them about the missing part and how to read it. Media stay. */
export function shortenedResult(
  { tool_use_id: id, content }: ToolResultBlock,
  { keep, recall }: { readonly keep: number; readonly recall: boolean },
): ToolResultBlock['content'] {
  const blocks = blocksOf(content)
  const text = blocks.flatMap((block) => (isText(block) ? [block.text] : [])).join('\n')
  if (text.length <= Math.max(keep, minKept)) return content
  const name = id.slice(0, maxNameLength)
  const how = recall
    ? `Read the rest a part at a time: recall(${JSON.stringify({ read: name })}).`
    : `Making the same call again gives the same text: ask for a part of it. The transcript has it all: ${JSON.stringify(name)}.`
  const line = `[… This result has ${text.length} characters, too many for the context. The middle is left out. ${how} …]`
  const room = Math.max(keep, minKept) - line.length - 2
  const short = withoutMiddle(text, { max: room, headShare: 0.5, marker: () => `\n${line}\n` })
  if (typeof content === 'string') return short
  return [{ type: 'text', text: short }, ...blocks.filter((block) => !isText(block))]
}

const clearedInput = '[Old tool input cleared]'
/** In characters. Shorter texts in an input describe the action (a path, a pattern) and cost little. */
const shortInput = 200

function withoutInputs(message: ViewMessage, isCleared: (toolUseId: string) => boolean): ViewMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message
  if (!message.content.some((block) => isToolUse(block) && isCleared(block.id))) return message
  const content = message.content.map((block) =>
    isToolUse(block) && isCleared(block.id) ? withoutInput(block) : block,
  )
  return { ...message, content }
}

export function withoutInput(call: ToolUseBlock): ToolUseBlock {
  return { ...call, input: shortened(call.input) }
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > shortInput ? clearedInput : value
  if (Array.isArray(value)) return JSON.stringify(value).length > shortInput ? [clearedInput] : value
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item)]))
  return value
}

/** Undefined if the message has nothing but thinking. */
export function withoutThinking(message: ViewMessage): ViewMessage | undefined {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message
  if (!message.content.some(isThinking)) return message
  const content = blocksOf(message.content).filter((block) => !isThinking(block))
  return content.length === 0 ? undefined : { ...message, content }
}

/** Replaces the content of the message. A call keeps its result, which is cleared unless something replaces it. */
export function withContent(message: ViewMessage, content: Content | null): ViewMessage | undefined {
  const results = typeof message.content === 'string' ? [] : message.content.filter(isToolResult)
  if (results.length === 0) return content === null ? undefined : { ...message, content }
  return { ...message, content: results.map((result) => ({ ...result, content: content ?? clearedText })) }
}

export function mediaIn(content: Content): number {
  if (typeof content === 'string') return 0
  return content.reduce((sum, block) => {
    return sum + (isToolResult(block) ? mediaIn(blocksOf(block.content)) : Number(isMedia(block)))
  }, 0)
}

/** Replaces each by `[image]` or `[document]`. The last `keep` of them stay. */
export function withoutMedia(message: ViewMessage, keep = 0): ViewMessage {
  let going = mediaIn(message.content) - keep
  if (typeof message.content === 'string' || going <= 0) return message
  const asText = (block: Block): Block => {
    if (isMedia(block)) return going-- > 0 ? { type: 'text', text: `[${block.type}]` } : block
    if (!isToolResult(block) || mediaIn(blocksOf(block.content)) === 0) return block
    return { ...block, content: blocksOf(block.content).map(asText) }
  }
  return { ...message, content: message.content.map(asText) }
}

/** Why a pin or its removal changes nothing; undefined if it does, or if the edit is not about pins. */
export function pinProblem({ pins }: { readonly pins: readonly string[] }, edit: Edit): string | undefined {
  if (edit.type === 'pin' && pins.includes(edit.uuid)) return `The entry ${edit.uuid} is pinned already.`
  if (edit.type === 'unpin' && !pins.includes(edit.uuid)) return `The entry ${edit.uuid} is not pinned.`
  return undefined
}
