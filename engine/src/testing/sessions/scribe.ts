// Writes generated records down in file order: gives each its id, its time and its parent, and tells the witness.
// Holds at most one turn; the caller drains it.
import type { JsonObject } from '../../core/message/json.ts'
import type { Random } from '../random.ts'
import type { Stamp } from './bodies.ts'
import { frame, type Identity, type Place } from './style.ts'
import { uuidOf, type Witness } from './truth.ts'

/** chain: the next line hangs on it. sibling: in view, but the chain goes past it. dead-end: in the file only. */
export type Standing = 'chain' | 'sibling' | 'dead-end'

export type LineOptions = {
  /** Where it hangs; on the last line of the chain when not given. */
  readonly parent?: string | null
  readonly standing?: Standing
}

export class Scribe {
  /** The last line of the chain of the main thread. */
  tip: string | null = null
  /** Characters written so far; not counted when the plan has no target. */
  size = 0
  private out: JsonObject[] = []
  private time: number
  private readonly random: Random
  private readonly identity: Identity
  private readonly witness: Witness | undefined
  private readonly isCounting: boolean

  constructor(options: {
    readonly random: Random
    readonly identity: Identity
    readonly startTime: string
    readonly isCounting: boolean
    readonly witness: Witness | undefined
  }) {
    this.random = options.random
    this.identity = options.identity
    this.witness = options.witness
    this.isCounting = options.isCounting
    this.time = Date.parse(options.startTime)
  }

  /** A new id and the next moment. */
  stamp(): Stamp {
    this.time += this.random.int(20, 4_000)
    return { uuid: this.random.uuid(), timestamp: new Date(this.time).toISOString() }
  }

  /** An earlier moment than the next stamp's. */
  earlier(seconds: number): string {
    return new Date(this.time - seconds * 1000).toISOString()
  }

  line(body: JsonObject, options: LineOptions = {}): JsonObject {
    const standing = options.standing ?? 'chain'
    const record = this.frame({ parentUuid: options.parent === undefined ? this.tip : options.parent }, body)
    this.push(record)
    this.witness?.wrote(record, standing !== 'dead-end')
    if (standing === 'chain') this.tip = uuidOf(record)
    return record
  }

  sidechainLine(body: JsonObject, place: { readonly parent: string | null; readonly agentId: string }): string {
    const record = this.frame({ parentUuid: place.parent, sidechain: { agentId: place.agentId } }, body)
    this.push(record)
    this.witness?.wroteSidechain(record)
    return uuidOf(record)
  }

  /** A record outside the tree. */
  side(record: JsonObject): void {
    this.push(record)
  }

  frame(place: Place, body: JsonObject): JsonObject {
    return frame(this.identity, place, body)
  }

  /** Where the next record will stand among those not yet drained. */
  mark(): number {
    return this.out.length
  }

  since(mark: number): readonly JsonObject[] {
    return this.out.slice(mark)
  }

  /** Replaces what was written since the mark, as a compaction does that writes the kept lines after its summary. */
  rewriteSince(mark: number, records: readonly JsonObject[]): void {
    const before = this.since(mark)
    this.out.length = mark
    if (this.isCounting) this.size -= before.reduce((sum, record) => sum + sizeOf(record), 0)
    for (const record of records) this.push(record)
  }

  drain(): readonly JsonObject[] {
    const drained = this.out
    this.out = []
    return drained
  }

  private push(record: JsonObject): void {
    this.out.push(record)
    if (this.isCounting) this.size += sizeOf(record)
  }
}

function sizeOf(record: JsonObject): number {
  return JSON.stringify(record).length + 1
}
