// What the edits in force do to each row of a transcript, and which rows an edit touches when it comes or goes. It
// keeps account of edits; it neither orders rows nor builds messages.
import type { ToolResultBlock } from '../../message/block.ts'
import type { JsonObject } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'
import type { Edit } from '../format/edits.ts'
import { withoutResults } from '../format/messages.ts'
import type { LiveOrder } from '../tree/order.ts'
import { clearedResult, shortenedResult, withoutInputs, withoutMedia, withoutThinking } from './edited.ts'
import { EditsByCall } from './edits-by-call.ts'
import { spanOf } from './span.ts'

export type EditAt = {
  readonly row: number
  readonly edit: Edit
  readonly uuid: string
  /** Its uuid as the list of what changed a message that nothing else changed: many share it. */
  readonly alone: readonly string[]
}
type RangeEdit = Extract<Edit, { readonly type: 'drop-range' | 'replace-range' }>
export type RangeAt = EditAt & { readonly edit: RangeEdit }

export type Effects = {
  /** Each takes an edit in or out and returns the rows that have to be looked at again. */
  readonly apply: (at: EditAt) => readonly number[]
  readonly withdraw: (at: EditAt) => readonly number[]
  /** Whether a stretch that an edit names may hold other rows since the order changed, or grew, from this place on. */
  readonly isMoved: (from: number) => boolean
  /** The range that stands in the place of a row. */
  readonly coverOf: (row: number) => RangeAt | undefined
  /** The row at which a range shows itself: the first that it covers. */
  readonly firstOf: (range: RangeAt) => number | undefined
  readonly coveredBy: (range: RangeAt) => readonly number[]
  /** No edit in force changes the contents of any message. */
  readonly isIdle: () => boolean
  /** Whether any stands in the place of rows. */
  readonly hasRanges: () => boolean
  /** The message of an entry with its contents as the edits leave them, and which edits those were. */
  readonly edited: (message: ViewMessage) => Edited
  readonly isPinned: (uuid: string | undefined) => boolean
  /** The rows an edit touches, in force or not. */
  readonly touchedBy: (at: Pick<EditAt, 'row' | 'edit'>) => readonly number[]
}

export type Edited = { readonly message: ViewMessage | undefined; readonly edits: readonly string[] }

type Span = { readonly at: EditAt; readonly rows: readonly number[] }

/** What stands in the place of a cleared attachment. */
export const clearedContext = '[Old context cleared]'

export function createEffects(order: LiveOrder, recordAt: (row: number) => JsonObject): Effects {
  return new EffectBook(order, recordAt)
}

class EffectBook implements Effects {
  private readonly order: LiveOrder
  private readonly recordAt: (row: number) => JsonObject
  private readonly results = new EditsByCall<EditAt>()
  private readonly inputs = new EditsByCall<EditAt>()
  private readonly attachments = new Map<string, EditAt[]>()
  private readonly media = new Map<string, EditAt[]>()
  private readonly pins = new Map<string, EditAt[]>()
  private readonly covers = new Map<number, EditAt[]>()
  private readonly thinking = new Map<number, EditAt[]>()
  private readonly spans = new Map<number, Span>()
  private readonly calls = new WeakMap<Edit, Int32Array>()
  private pinnedAnswers = new Set<number>()

  constructor(order: LiveOrder, recordAt: (row: number) => JsonObject) {
    this.order = order
    this.recordAt = recordAt
  }

  apply(at: EditAt): readonly number[] {
    return this.change(at, 'put')
  }

  withdraw(at: EditAt): readonly number[] {
    const touched = this.change(at, 'drop')
    this.spans.delete(at.row)
    return touched
  }

  isMoved(from: number): boolean {
    if (this.spans.size === 0) return false
    const oldest = this.order
      .rows()
      .slice(from)
      .reduce((least, row) => Math.min(least, row), Number.POSITIVE_INFINITY)
    for (const { at, rows } of this.spans.values()) {
      if (this.endOf(at) >= oldest) return true
      if (rows.some((row) => (this.order.placeOf(row) ?? Number.POSITIVE_INFINITY) >= from)) return true
    }
    return false
  }

  /** No row behind this one can come into the stretch. */
  private endOf({ row, edit }: EditAt): number {
    if (edit.type !== 'drop-range' && edit.type !== 'replace-range') return row - 1
    return Math.max(this.order.rowOf(edit.from), this.order.rowOf(edit.to))
  }

  coverOf(row: number): RangeAt | undefined {
    const newest = this.covers.size === 0 ? undefined : this.covers.get(row)?.at(-1)
    return newest && isRange(newest) && !this.isProtected(row) ? newest : undefined
  }

  firstOf(range: RangeAt): number | undefined {
    return this.spans.get(range.row)?.rows.find((row) => this.coverOf(row) === range)
  }

  coveredBy(range: RangeAt): readonly number[] {
    return (this.spans.get(range.row)?.rows ?? []).filter((row) => this.coverOf(row) === range)
  }

  isPinned(uuid: string | undefined): boolean {
    return uuid !== undefined && this.pins.size > 0 && this.pins.get(uuid)?.at(-1)?.edit.type === 'pin'
  }

  hasRanges(): boolean {
    return this.covers.size > 0
  }

  edited(message: ViewMessage): Edited {
    const { uuid = '', attachment } = message
    const found: EditAt[] = []
    let now = message
    if (!this.isPinned(uuid)) {
      const context = attachment === undefined ? undefined : this.attachments.get(uuid)?.at(-1)
      if (context) return { message: { ...message, content: clearedContext }, edits: context.alone }
      if (this.results.size > 0) now = withoutResults(now, (result) => this.contentInstead(result, found))
      if (this.inputs.size > 0) now = withoutInputs(now, (id) => noted(this.newestOf(this.inputs, id), found))
      if (this.media.size > 0) now = this.withoutMedia(now, found)
    }
    const unthought = this.thinking.size === 0 ? undefined : this.thinking.get(this.order.rowOf(uuid))?.at(-1)
    const left = unthought ? withoutThinking(now) : now
    if (left !== now) noted(unthought, found)
    return { message: left, edits: uuidsOf(found) }
  }

  private withoutMedia(message: ViewMessage, found: EditAt[]): ViewMessage {
    const at = this.media.get(message.uuid ?? '')?.at(-1)
    if (!at || !noted(at, found) || at.edit.type !== 'clear-media') return message
    return withoutMedia(message, message.uuid === at.edit.uuids.at(-1) ? at.edit.keep : 0)
  }

  private newestOf(edits: EditsByCall<EditAt>, toolUseId: string): EditAt | undefined {
    return edits.newest(this.order.callOf(toolUseId))
  }

  private contentInstead(result: ToolResultBlock, found: EditAt[]): ToolResultBlock['content'] | undefined {
    const at = this.newestOf(this.results, result.tool_use_id)
    if (!at || !noted(at, found) || at.edit.type !== 'clear-results') return undefined
    const { keep, recall = false } = at.edit
    return keep === undefined ? clearedResult(result.tool_use_id, recall) : shortenedResult(result, { keep, recall })
  }

  isIdle(): boolean {
    const { results, inputs, attachments, media, thinking } = this
    return results.size + inputs.size + attachments.size + media.size + thinking.size === 0
  }

  touchedBy(at: Pick<EditAt, 'row' | 'edit'>): readonly number[] {
    const { edit } = at
    switch (edit.type) {
      case 'clear-results': {
        const attachments = (edit.attachments ?? []).map(this.order.rowOf).filter((row) => row >= 0)
        const results = this.order.resultsOf(this.callsOf(edit))
        return attachments.length === 0 ? results : [...results, ...attachments]
      }
      case 'clear-inputs':
        return this.order.usesOf(this.callsOf(edit))
      case 'clear-media':
        return edit.uuids.map(this.order.rowOf).filter((row) => row >= 0)
      case 'pin':
      case 'unpin':
        return this.roundOf(this.order.rowOf(edit.uuid))
      case 'clear-thinking':
      case 'drop-range':
      case 'replace-range':
        return this.spans.get(at.row)?.rows ?? spanOf(at.row, edit, { order: this.order, recordAt: this.recordAt })
      case 'server-cleared':
      case 'undo':
      case 'rewind':
        return []
    }
  }

  /** The calls that it names, as numbers: looked up once. */
  private callsOf(edit: Edit & { readonly toolUseIds: readonly string[] }): Int32Array {
    const known = this.calls.get(edit) ?? Int32Array.from(edit.toolUseIds, this.order.callOf)
    this.calls.set(edit, known)
    return known
  }

  private change(at: EditAt, how: How): readonly number[] {
    const rows = this.touchedBy(at)
    if (this.covers.size === 0 && !isRange(at)) {
      this.book(at, { rows, how })
      return rows
    }
    const ranges = new Set(rows.flatMap((row) => this.covers.get(row) ?? []).filter(isRange))
    const shown = () => [...ranges].map((range) => this.firstOf(range)).filter((row) => row !== undefined)
    const before = shown()
    this.book(at, { rows, how })
    return [...rows, ...before, ...shown()]
  }

  private book(at: EditAt, { rows, how }: { readonly rows: readonly number[]; readonly how: How }): void {
    const { edit } = at
    switch (edit.type) {
      case 'clear-results':
        for (const call of this.callsOf(edit)) this.results[how](call, at)
        for (const uuid of edit.attachments ?? []) inMap[how](this.attachments, uuid, at)
        break
      case 'clear-inputs':
        for (const call of this.callsOf(edit)) this.inputs[how](call, at)
        break
      case 'clear-media':
        for (const uuid of edit.uuids) inMap[how](this.media, uuid, at)
        break
      case 'pin':
      case 'unpin':
        inMap[how](this.pins, edit.uuid, at)
        this.pinnedAnswers = this.answersPinned()
        break
      case 'clear-thinking':
      case 'drop-range':
      case 'replace-range':
        this.spans.set(at.row, { at, rows })
        for (const row of rows) inMap[how](edit.type === 'clear-thinking' ? this.thinking : this.covers, row, at)
        break
      case 'server-cleared':
      case 'undo':
      case 'rewind':
        break
    }
  }

  /** A pinned call keeps its result, and a pinned result its call: otherwise neither would be worth much. */
  private isProtected(row: number): boolean {
    if (this.pins.size === 0) return false
    const answer = this.order.answerOf(row)
    return this.isPinned(this.order.head(row)?.uuid) || (answer !== undefined && this.pinnedAnswers.has(answer))
  }

  private answersPinned(): Set<number> {
    const pinned = [...this.pins.keys()].filter((uuid) => this.isPinned(uuid))
    const answers = pinned.map((uuid) => this.order.answerOf(this.order.rowOf(uuid)))
    return new Set(answers.filter((answer) => answer !== undefined))
  }

  private roundOf(row: number): readonly number[] {
    if (row < 0) return []
    const answer = this.order.answerOf(row)
    if (answer === undefined) return [row]
    const pieces = this.order.piecesOf(answer)
    return [...pieces, ...pieces.flatMap(this.order.resultsOfCallsAt)]
  }
}

/**
 * Whether it changes contents and nothing else: no message comes or goes. To an edited message it does what it would do to
 * the one that was written.
 */
export function isOfContents(edit: Edit): boolean {
  // What is shortened twice has to be shortened from the original.
  if (edit.type === 'clear-results' || edit.type === 'clear-media') return edit.keep === undefined
  return edit.type === 'clear-inputs'
}

function isRange(at: EditAt): at is RangeAt {
  return at.edit.type === 'drop-range' || at.edit.type === 'replace-range'
}

/** Whether there is an edit; it goes to those that were found. */
function noted(at: EditAt | undefined, found: EditAt[]): boolean {
  if (at && !found.includes(at)) found.push(at)
  return at !== undefined
}

const noEdits: readonly string[] = []

function uuidsOf(found: readonly EditAt[]): readonly string[] {
  const first = found[0]
  if (!first) return noEdits
  return found.length === 1 ? first.alone : found.map(({ uuid }) => uuid)
}

/** In the order of the transcript: the newest decides, also when an older one comes back. */
function put<K>(map: Map<K, EditAt[]>, key: K, at: EditAt): void {
  const list = map.get(key)
  if (!list) map.set(key, [at])
  else if (!list.includes(at)) list.splice(list.findLastIndex((other) => other.row < at.row) + 1, 0, at)
}

function drop<K>(map: Map<K, EditAt[]>, key: K, at: EditAt): void {
  const left = map.get(key)?.filter((other) => other !== at) ?? []
  if (left.length === 0) map.delete(key)
  else map.set(key, left)
}

const inMap = { put, drop }
type How = keyof typeof inMap
