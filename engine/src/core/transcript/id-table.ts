// A map from ids to row numbers that holds millions of uuids in a few bytes each: 16 for the uuid, 8 for its slot.
// Ids of another form are kept as strings.

const wordsPerId = 4
const hexDigits = '0123456789abcdef'
export const idLength = 36
/** Where the 16 pairs of digits of a uuid lie among its 36 characters. */
const pairPlaces = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const hyphenPlaces = [8, 13, 18, 23]
const hyphen = 0x2d
/** What two characters, read as one little-endian number, say as hexadecimal digits; negative when they are none. */
const pairs = hexPairs()

function hexPairs(): Int16Array {
  const table = new Int16Array(1 << 16).fill(-1)
  const code = (digit: number) => hexDigits.charCodeAt(digit)
  for (let value = 0; value < 256; value++) table[code(value >> 4) | (code(value & 15) << 8)] = value
  return table
}

/** Reads the 36 bytes of a uuid into four words; false when they are none (only lower-case ones count). */
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

/** The same from a string, by way of these 36 bytes. */
function wordsOf(id: string, words: Uint32Array, bytes: DataView): boolean {
  if (id.length !== idLength) return false
  for (let at = 0; at < idLength; at++) {
    const code = id.charCodeAt(at)
    if (code > 0x7f) return false
    bytes.setUint8(at, code)
  }
  return readId(bytes, 0, words)
}

export function idOf(words: Uint32Array): string {
  let hex = ''
  for (const word of words) hex += word.toString(16).padStart(8, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export type IdTable = {
  /** Adds a uuid for this row; false when it is there already (the first wins). */
  readonly add: (words: Uint32Array, row: number) => boolean
  /** The row of a uuid, or -1. */
  readonly find: (words: Uint32Array) => number
  /** The same for an id of any form. */
  readonly addId: (id: string, row: number) => boolean
  readonly findId: (id: string) => number
  /** The id of a row, if it was the first to carry it. */
  readonly idAt: (row: number) => string | undefined
  readonly others: ReadonlyMap<string, number>
  /** Four words for each row; zeros where it has no uuid. */
  readonly words: () => Uint32Array
}

export type IdTableStart = {
  readonly saved?: { readonly words: Uint32Array; readonly others: ReadonlyMap<string, number> }
  readonly expected?: number
}

export function createIdTable({ saved, expected = 1024 }: IdTableStart = {}): IdTable {
  const uuids = createUuidTable(Math.max(expected, saved ? saved.words.length / wordsPerId : 0))
  const others = new Map(saved?.others)
  const scratch = new Uint32Array(wordsPerId)
  const spelled = new DataView(new ArrayBuffer(idLength))
  const isUuid = (id: string) => wordsOf(id, scratch, spelled)
  for (let row = 0; saved && row * wordsPerId < saved.words.length; row++) {
    const id = saved.words.subarray(row * wordsPerId, (row + 1) * wordsPerId)
    if (!isNothing(id)) uuids.add(id, row)
  }
  return {
    ...uuids,
    others,
    addId: (id, row) => {
      if (isUuid(id)) return uuids.add(scratch, row)
      if (others.has(id)) return false
      others.set(id, row)
      return true
    },
    findId: (id) => (isUuid(id) ? uuids.find(scratch) : (others.get(id) ?? -1)),
    idAt: (row) => {
      const id = uuids.words().subarray(row * wordsPerId, (row + 1) * wordsPerId)
      if (!isNothing(id)) return idOf(id)
      for (const [other, at] of others) if (at === row) return other
      return undefined
    },
  }
}

function isNothing(id: Uint32Array): boolean {
  return id.every((word) => word === 0)
}

/** Open addressing: a slot holds a row number plus one, the words of each row lie in one array. */
function createUuidTable(room: number): Pick<IdTable, 'add' | 'find' | 'words'> {
  let words = new Uint32Array(wordsPerId * room)
  let slots = new Int32Array(2 ** Math.ceil(Math.log2(room * 2 + 2)))
  let count = 0
  let rows = 0
  const isAt = (row: number, id: Uint32Array): boolean => {
    const at = row * wordsPerId
    return words[at] === id[0] && words[at + 1] === id[1] && words[at + 2] === id[2] && words[at + 3] === id[3]
  }
  /** The slot that holds this uuid, or the free one where it would go. */
  const slotOf = (id: Uint32Array): number => {
    const mask = slots.length - 1
    let slot = ((id[0] ?? 0) ^ (id[3] ?? 0)) & mask
    for (;;) {
      const row = (slots[slot] ?? 0) - 1
      if (row < 0 || isAt(row, id)) return slot
      slot = (slot + 1) & mask
    }
  }
  const growSlots = () => {
    const old = slots
    slots = new Int32Array(old.length * 2)
    for (const entry of old) {
      if (entry === 0) continue
      const at = (entry - 1) * wordsPerId
      slots[slotOf(words.subarray(at, at + wordsPerId))] = entry
    }
  }
  const add = (id: Uint32Array, row: number): boolean => {
    if (count * 2 >= slots.length) growSlots()
    const slot = slotOf(id)
    if (slots[slot] !== 0) return false
    const at = row * wordsPerId
    if (at + wordsPerId > words.length) words = grown(words, at + wordsPerId)
    for (let word = 0; word < wordsPerId; word++) words[at + word] = id[word] ?? 0
    slots[slot] = row + 1
    count++
    rows = Math.max(rows, row + 1)
    return true
  }
  return { add, find: (id) => (slots[slotOf(id)] ?? 0) - 1, words: () => words.subarray(0, rows * wordsPerId) }
}

function grown(words: Uint32Array, least: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(words.length * 2, least))
  larger.set(words)
  return larger
}
