// Rows by uuid, packed: 16 bytes for each uuid and 8 for its slot. A map of strings would take most of the time and the
// memory of an index. Ids of another form are kept in a map.
import type { IdRows } from '../../core/transcript/tree/graph.ts'

const wordsPerId = 4
export const idLength = 36
/** Positions of the 16 pairs of digits among the 36 characters of a uuid. */
const pairPlaces = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const hyphenPlaces = [8, 13, 18, 23]
const hyphen = 0x2d
/** The value of two hexadecimal digits, read as one little-endian number. Negative for other characters. */
const pairs = new Int16Array(1 << 16).fill(-1)
for (let value = 0; value < 256; value++) {
  pairs[Buffer.from(value.toString(16).padStart(2, '0')).readUint16LE(0)] = value
}

/** Reads the 36 bytes of a uuid into four words. False if they are not a lower-case uuid. */
export function readId(bytes: DataView, at: number, words: Uint32Array): boolean {
  let all = 0
  for (let word = 0; word < wordsPerId; word++) {
    let value = 0
    for (let pair = word * 4; pair < word * 4 + 4; pair++) {
      const read = pairs[bytes.getUint16(at + (pairPlaces[pair] ?? 0), true)] ?? -1
      all |= read
      value = (value << 8) | read
    }
    words[word] = value
  }
  for (const place of hyphenPlaces) if (bytes.getUint8(at + place) !== hyphen) return false
  return all >= 0
}

export function idOf(words: Uint32Array): string {
  let hex = ''
  for (const word of words) hex += word.toString(16).padStart(8, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export type PackedIds = { readonly words: Uint32Array; readonly others: Map<string, number> }

export type UuidRows = IdRows & {
  /** Adds a uuid for this row. False if it already exists (the first counts). */
  readonly add: (words: Uint32Array, row: number) => boolean
  readonly find: (words: Uint32Array) => number
  readonly packed: () => PackedIds
}

export function createUuidRows(saved?: PackedIds): UuidRows {
  const others = saved?.others ?? new Map<string, number>()
  const table = createTable()
  for (let row = 0; saved && row * wordsPerId < saved.words.length; row++) {
    const words = saved.words.subarray(row * wordsPerId, (row + 1) * wordsPerId)
    if (words.some((word) => word !== 0)) table.add(words, row)
  }
  const scratch = new Uint32Array(wordsPerId)
  const isUuid = (id: string) =>
    id.length === idLength && readId(new DataView(new TextEncoder().encode(id).buffer), 0, scratch)
  return {
    ...table,
    packed: () => ({ words: table.words(), others }),
    get: (id) => {
      const row = isUuid(id) ? table.find(scratch) : (others.get(id) ?? -1)
      return row < 0 ? undefined : row
    },
    set: (id, row) => (isUuid(id) ? table.add(scratch, row) : others.set(id, row)),
  }
}

/** Open addressing: a slot holds a row number plus one, the words of each row lie in one array. */
function createTable() {
  let words = new Uint32Array(wordsPerId * 1024)
  let slots = new Int32Array(4096)
  let count = 0
  let rows = 0
  /** The slot with the uuid at this position of an array, or the free slot for it. */
  const slotOf = (id: Uint32Array, start: number): number => {
    const [a = 0, b = 0, c = 0, d = 0] = [id[start], id[start + 1], id[start + 2], id[start + 3]]
    for (let slot = (a ^ d) & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
      const at = ((slots[slot] ?? 0) - 1) * wordsPerId
      if (at < 0) return slot
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return slot
    }
  }
  const growSlots = () => {
    const old = slots
    slots = new Int32Array(old.length * 4)
    for (const entry of old) if (entry > 0) slots[slotOf(words, (entry - 1) * wordsPerId)] = entry
  }
  const add = (id: Uint32Array, row: number): boolean => {
    if (count * 2 >= slots.length) growSlots()
    const slot = slotOf(id, 0)
    if (slots[slot] !== 0) return false
    const end = (row + 1) * wordsPerId
    if (end > words.length) {
      const larger = new Uint32Array(Math.max(words.length * 2, end))
      larger.set(words)
      words = larger
    }
    words.set(id, end - wordsPerId)
    slots[slot] = row + 1
    count++
    rows = Math.max(rows, row + 1)
    return true
  }
  const find = (id: Uint32Array) => (slots[slotOf(id, 0)] ?? 0) - 1
  return { add, find, words: () => words.subarray(0, rows * wordsPerId) }
}
