// Damages a file in ways seen in practice, and lists the records that must still be found. The list follows from the damage, not
// from reading the bytes.
import { type JsonObject, stringAt } from '../core/message/json.ts'
import { type Random, random } from './random.ts'
import { serialize } from './records.ts'

/** In the order in which they are applied. */
export const corruptionKinds = [
  'two-objects', // a lost newline
  'cut-and-continued', // a crash within a line, then the next record
  'nul-run', // a hole in the file
  'torn-last', // the file ends inside a record
  'crlf',
  'blank-lines',
  'long-line', // several megabytes
  'garbage', // bytes that are not text
  'duplicate-uuid', // the first one counts
  'missing-parent',
  'cycle',
  'forward-logical-parent',
  'bom',
] as const
export type CorruptionKind = (typeof corruptionKinds)[number]

export type Corrupted = {
  readonly bytes: Uint8Array
  /** Records that are whole in the bytes, in file order. */
  readonly records: readonly JsonObject[]
  readonly survivors: readonly string[]
  /** Ids of records without a whole copy. */
  readonly lost: readonly string[]
  /** The kinds that could be applied: a cycle needs two lines, a forward parent a boundary. */
  readonly applied: readonly CorruptionKind[]
}

/** `records` are those that are whole in the line. */
type Line = { readonly bytes: Uint8Array; readonly records: readonly JsonObject[]; readonly ending: string }
type Damage<T> = (items: readonly T[], chance: Random) => readonly T[] | undefined

const encoder = new TextEncoder()
/** More than two of the chunks in which a file is read. */
const padding = 600_000

const toRecords: Partial<Record<CorruptionKind, Damage<JsonObject>>> = {
  'long-line': (records, chance) =>
    changeOne(records, chance, (record) => ({ ...record, padding: 'x'.repeat(padding) })),
  'duplicate-uuid': duplicate,
  'missing-parent': (records, chance) =>
    changeOne(records, chance, (record) =>
      'parentUuid' in record ? { ...record, parentUuid: chance.uuid() } : undefined,
    ),
  cycle,
  'forward-logical-parent': forwardLogicalParent,
}

const toLines: Partial<Record<CorruptionKind, Damage<Line>>> = {
  'two-objects': (lines, chance) => join(lines, chance, (first) => first),
  'cut-and-continued': (lines, chance) => join(lines, chance, (first) => cut(first, chance)),
  // With or without a newline before the next record.
  'nul-run': (lines, chance) => insert(lines, chance, nulRun(chance)),
  garbage: (lines, chance) => insert(lines, chance, { bytes: garbage(chance), records: [], ending: '\n' }),
  'blank-lines': (lines, chance) =>
    insert(lines, chance, { bytes: encoder.encode('\n  \n\t\n'), records: [], ending: '\n' }),
  crlf: (lines) => lines.map((line) => ({ ...line, ending: line.ending === '' ? '' : '\r\n' })),
  bom: ([first, ...rest]) =>
    first && [{ ...first, bytes: concat([Uint8Array.of(0xef, 0xbb, 0xbf), first.bytes]) }, ...rest],
  'torn-last': tearLast,
}

/** Records first, then lines, so that no kind undoes another. */
export function corrupt(
  records: readonly JsonObject[],
  seed: number,
  kinds: readonly CorruptionKind[] = corruptionKinds,
): Corrupted {
  const chance = random(seed)
  const applied: CorruptionKind[] = []
  const apply = <T>(items: readonly T[], damages: Partial<Record<CorruptionKind, Damage<T>>>) =>
    corruptionKinds.reduce<readonly T[]>((current, kind) => {
      const next = kinds.includes(kind) ? damages[kind]?.(current, chance) : undefined
      if (next) applied.push(kind)
      return next ?? current
    }, items)
  const changed = apply(records, toRecords)
  const whole = changed.map(
    (record): Line => ({ bytes: encoder.encode(serialize(record).slice(0, -1)), records: [record], ending: '\n' }),
  )
  const lines = apply(whole, toLines)
  const left = lines.flatMap((line) => line.records)
  const survivors = new Set(left.flatMap((record) => stringAt(record, 'uuid') ?? []))
  const ids = new Set(changed.flatMap((record) => stringAt(record, 'uuid') ?? []))
  return {
    bytes: concat(lines.flatMap((line) => [line.bytes, encoder.encode(line.ending)])),
    records: left,
    survivors: [...survivors],
    lost: [...ids].filter((id) => !survivors.has(id)),
    applied,
  }
}

function changeOne(
  records: readonly JsonObject[],
  chance: Random,
  change: (record: JsonObject) => JsonObject | undefined,
): readonly JsonObject[] | undefined {
  const at = chance.int(0, records.length - 1)
  const index = [...records.keys()].find((step) => records[(at + step) % records.length]?.uuid !== undefined)
  const victim = index === undefined ? undefined : (at + index) % records.length
  const changed = victim === undefined ? undefined : change(records[victim] ?? {})
  return changed && victim !== undefined ? records.with(victim, changed) : undefined
}

/** The same id again with other content. */
function duplicate(records: readonly JsonObject[], chance: Random): readonly JsonObject[] | undefined {
  const first = records.find((record) => record.type === 'user' && record.uuid !== undefined)
  if (!first) return undefined
  const again = { ...first, message: { role: 'user', content: 'The second line with this id.' } }
  return records.toSpliced(chance.int(records.indexOf(first) + 1, records.length), 0, again)
}

/** Makes a line the child of its own child. */
function cycle(records: readonly JsonObject[], chance: Random): readonly JsonObject[] | undefined {
  const parents = new Map(records.map((record) => [record.uuid, record]))
  const children = records.filter((record) => typeof record.parentUuid === 'string' && parents.has(record.parentUuid))
  const child = children[chance.int(0, Math.max(0, children.length - 1))]
  const index = records.findIndex((record) => record.uuid === child?.parentUuid)
  return child && index >= 0 ? records.with(index, { ...records[index], parentUuid: child.uuid }) : undefined
}

function forwardLogicalParent(records: readonly JsonObject[], chance: Random): readonly JsonObject[] | undefined {
  const index = records.findIndex((record) => record.subtype === 'compact_boundary')
  const later = records.slice(index + 1).filter((record) => record.uuid !== undefined)
  if (index < 0 || later.length === 0) return undefined
  const logicalParentUuid = later[chance.int(0, later.length - 1)]?.uuid
  return records.with(index, { ...records[index], logicalParentUuid })
}

/** Puts two neighbors on one line, never the last two. */
function join(lines: readonly Line[], chance: Random, damage: (first: Line) => Line): readonly Line[] | undefined {
  const places = [...lines.keys()].filter((at) => at < lines.length - 2 && isPlain(lines[at]) && isPlain(lines[at + 1]))
  const at = places[chance.int(0, Math.max(0, places.length - 1))]
  const [first, second] = at === undefined ? [] : [lines[at], lines[at + 1]]
  if (at === undefined || !first || !second) return undefined
  const damaged = damage(first)
  const joined: Line = {
    bytes: concat([damaged.bytes, second.bytes]),
    records: [...damaged.records, ...second.records],
    ending: second.ending,
  }
  return lines.toSpliced(at, 2, joined)
}

function isPlain(line: Line | undefined): boolean {
  return line?.records.length === 1 && line.bytes[0] === 0x7b
}

function cut(line: Line, chance: Random): Line {
  return { ...line, bytes: line.bytes.slice(0, chance.int(1, line.bytes.length - 1)), records: [] }
}

function tearLast(lines: readonly Line[], chance: Random): readonly Line[] | undefined {
  const last = lines.at(-1)
  return last && isPlain(last) ? lines.with(-1, { ...cut(last, chance), ending: '' }) : undefined
}

/** Never after the last line, which may be torn. */
function insert(lines: readonly Line[], chance: Random, line: Line): readonly Line[] {
  return lines.toSpliced(chance.int(0, Math.max(0, lines.length - 1)), 0, line)
}

function nulRun(chance: Random): Line {
  return { bytes: new Uint8Array(chance.int(1, 5_000)), records: [], ending: chance.chance(0.5) ? '\n' : '' }
}

/** No newlines and no opening braces: nothing can look like the start of a record. */
function garbage(chance: Random): Uint8Array {
  return Uint8Array.from({ length: chance.int(1, 2_000) }, () => chance.int(0, 255)).map((byte) =>
    byte === 0x0a || byte === 0x0d || byte === 0x7b ? 0xff : byte,
  )
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
