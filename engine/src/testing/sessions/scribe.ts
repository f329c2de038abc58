// Writes generated records in file order with id, time and parent, and informs the witness. Holds at most one turn.
import type { JsonObject } from '../../core/message/json.ts'
import type { Random } from '../random.ts'
import type { Stamp } from './bodies.ts'
import { frame, type Identity, type Place } from './style.ts'
import { uuidOf, type Witness } from './truth.ts'

/** chain: parent of the next line. sibling: in view, but not in the chain. dead-end: in no view. */
export type Standing = 'chain' | 'sibling' | 'dead-end'

export type LineOptions = {
  /** Default: the last line of the chain. */
  readonly parent?: string | null
  readonly standing?: Standing
}

type ScribeOptions = {
  readonly random: Random
  readonly identity: Identity
  readonly startTime: string
  readonly isCounting: boolean
  readonly witness: Witness | undefined
}

export class Scribe {
  /** The last line of the main chain. */
  tip: string | null = null
  /** Characters written; counted only with a target size. */
  size = 0
  private out: JsonObject[] = []
  private time: number
  private readonly options: ScribeOptions

  constructor(options: ScribeOptions) {
    this.options = options
    this.time = Date.parse(options.startTime)
  }

  stamp(): Stamp {
    this.time += this.options.random.int(20, 4_000)
    return { uuid: this.options.random.uuid(), timestamp: new Date(this.time).toISOString() }
  }

  earlier(seconds: number): string {
    return new Date(this.time - seconds * 1000).toISOString()
  }

  line(body: JsonObject, options: LineOptions = {}): JsonObject {
    const standing = options.standing ?? 'chain'
    const record = this.frame({ parentUuid: options.parent === undefined ? this.tip : options.parent }, body)
    this.push(record)
    this.options.witness?.wrote(record, standing !== 'dead-end')
    if (standing === 'chain') this.tip = uuidOf(record)
    return record
  }

  sidechainLine(body: JsonObject, place: { readonly parent: string | null; readonly agentId: string }): string {
    const record = this.frame({ parentUuid: place.parent, sidechain: { agentId: place.agentId } }, body)
    this.push(record)
    this.options.witness?.wroteSidechain(record)
    return uuidOf(record)
  }

  side(record: JsonObject): void {
    this.push(record)
  }

  frame(place: Place, body: JsonObject): JsonObject {
    return frame(this.options.identity, place, body)
  }

  mark(): number {
    return this.out.length
  }

  since(mark: number): readonly JsonObject[] {
    return this.out.slice(mark)
  }

  /** For a compaction that writes the kept lines after its summary. */
  rewriteSince(mark: number, records: readonly JsonObject[]): void {
    const before = this.since(mark)
    this.out.length = mark
    if (this.options.isCounting) this.size -= before.reduce((sum, record) => sum + sizeOf(record), 0)
    for (const record of records) this.push(record)
  }

  drain(): readonly JsonObject[] {
    const drained = this.out
    this.out = []
    return drained
  }

  private push(record: JsonObject): void {
    this.out.push(record)
    if (this.options.isCounting) this.size += sizeOf(record)
  }
}

function sizeOf(record: JsonObject): number {
  return JSON.stringify(record).length + 1
}
