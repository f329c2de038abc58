// What the edits in force do to each row of a transcript, and which rows an edit touches when it comes or goes. It
// keeps account of edits; it neither orders rows nor builds messages.
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { clearedResult, withoutInputs, withoutMedia, withoutThinking } from './edited.ts'
import type { Edit } from './edits.ts'
import { withoutResults } from './messages.ts'
import type { LiveOrder } from './order.ts'
import { spanOf } from './span.ts'

export type EditAt = { readonly row: number; readonly uuid: string; readonly edit: Edit }
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
  /** The message with its contents as the edits leave them, and which edits those were. */
  readonly edited: (row: number, message: ViewMessage) => Edited
  readonly isPinned: (uuid: string | undefined) => boolean
  /** The rows an edit touches, in force or not. */
  readonly touchedBy: (at: EditAt) => readonly number[]
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
  private readonly results = new Map<string, EditAt[]>()
  private readonly inputs = new Map<string, EditAt[]>()
  private readonly attachments = new Map<string, EditAt[]>()
  private readonly media = new Map<string, EditAt[]>()
  private readonly pins = new Map<string, EditAt[]>()
  private readonly covers = new Map<number, EditAt[]>()
  private readonly thinking = new Map<number, EditAt[]>()
  private readonly spans = new Map<number, Span>()
  private pinnedAnswers = new Set<number>()

  constructor(order: LiveOrder, recordAt: (row: number) => JsonObject) {
    this.order = order
    this.recordAt = recordAt
  }

  apply(at: EditAt): readonly number[] {
    return this.change(at, put)
  }

  withdraw(at: EditAt): readonly number[] {
    const touched = this.change(at, drop)
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

  edited(row: number, message: ViewMessage): Edited {
    const edits: string[] = []
    const isPinned = this.isPinned(message.uuid)
    const note = <T>(found: EditAt | undefined, then: T, otherwise: T): T => {
      if (!found) return otherwise
      edits.push(found.uuid)
      return then
    }
    if (!isPinned && message.uuid !== undefined && message.attachment !== undefined) {
      const cleared = this.attachments.get(message.uuid)?.at(-1)
      if (cleared) return { message: { ...message, content: clearedContext }, edits: [cleared.uuid] }
    }
    let now = message
    if (!isPinned) {
      now = withoutResults(now, (id) => {
        const found = this.results.get(id)?.at(-1)
        const hasRecall = found?.edit.type === 'clear-results' && found.edit.recall === true
        return note(found, clearedResult(id, hasRecall), undefined)
      })
      now = withoutInputs(now, (id) => note(this.inputs.get(id)?.at(-1), true, false))
      const unseen = this.media.get(message.uuid ?? '')?.at(-1)
      if (unseen) now = note(unseen, withoutMedia(now), now)
    }
    const unthought = this.thinking.get(row)?.at(-1)
    const left = unthought ? withoutThinking(now) : now
    if (unthought && left !== now) edits.push(unthought.uuid)
    return { message: left, edits: [...new Set(edits)] }
  }

  isIdle(): boolean {
    const { results, inputs, attachments, media, thinking } = this
    return results.size + inputs.size + attachments.size + media.size + thinking.size === 0
  }

  touchedBy(at: EditAt): readonly number[] {
    const { edit } = at
    switch (edit.type) {
      case 'clear-results': {
        const attachments = (edit.attachments ?? []).map(this.order.rowOf).filter((row) => row >= 0)
        return [...edit.toolUseIds.flatMap(this.order.resultsOf), ...attachments]
      }
      case 'clear-inputs':
        return edit.toolUseIds.flatMap(this.order.usesOf)
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

  private change(at: EditAt, how: Change): readonly number[] {
    const rows = this.touchedBy(at)
    const ranges = new Set(rows.flatMap((row) => this.covers.get(row) ?? []).filter(isRange))
    const shown = () => [...ranges].map((range) => this.firstOf(range)).filter((row) => row !== undefined)
    const before = shown()
    this.book(at, { rows, how })
    return [...rows, ...before, ...shown()]
  }

  private book(at: EditAt, { rows, how }: { readonly rows: readonly number[]; readonly how: Change }): void {
    const { edit } = at
    switch (edit.type) {
      case 'clear-results':
        for (const id of edit.toolUseIds) how(this.results, id, at)
        for (const uuid of edit.attachments ?? []) how(this.attachments, uuid, at)
        break
      case 'clear-inputs':
        for (const id of edit.toolUseIds) how(this.inputs, id, at)
        break
      case 'clear-media':
        for (const uuid of edit.uuids) how(this.media, uuid, at)
        break
      case 'pin':
      case 'unpin':
        how(this.pins, edit.uuid, at)
        this.pinnedAnswers = this.answersPinned()
        break
      case 'clear-thinking':
      case 'drop-range':
      case 'replace-range':
        this.spans.set(at.row, { at, rows })
        for (const row of rows) how(edit.type === 'clear-thinking' ? this.thinking : this.covers, row, at)
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

function isRange(at: EditAt): at is RangeAt {
  return at.edit.type === 'drop-range' || at.edit.type === 'replace-range'
}

type Change = <K>(map: Map<K, EditAt[]>, key: K, at: EditAt) => void

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
