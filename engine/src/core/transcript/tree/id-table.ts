// A map from ids to row numbers that stores millions of uuids compactly: 16 bytes for the uuid, 8 for its slot. Ids of
// another form are kept as strings.

const wordsPerId = 4
const hexDigits = '0123456789abcdef'
const nibbles = Int8Array.from({ length: 256 }, (_, code) => hexDigits.indexOf(String.fromCharCode(code)))
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

/** The same from a string. */
function wordsOf(id: string, words: Uint32Array): boolean {
  if (id.length !== idLength) return false
  if (id[8] !== '-' || id[13] !== '-' || id[18] !== '-' || id[23] !== '-') return false
  for (let word = 0; word < wordsPerId; word++) {
    const high = hexAt(id, quads[word * 2] ?? 0)
    const low = hexAt(id, quads[word * 2 + 1] ?? 0)
    if (high < 0 || low < 0) return false
    words[word] = (high << 16) | low
  }
  return true
}

/** Where the eight stretches of four digits begin. */
const quads = [0, 4, 9, 14, 19, 24, 28, 32]

/** The number that four digits stand for; negative when they are none. */
function hexAt(id: string, at: number): number {
  const a = nibbles[id.charCodeAt(at)] ?? -1
  const b = nibbles[id.charCodeAt(at + 1)] ?? -1
  const c = nibbles[id.charCodeAt(at + 2)] ?? -1
  const d = nibbles[id.charCodeAt(at + 3)] ?? -1
  return (a | b | c | d) < 0 ? -1 : (a << 12) | (b << 8) | (c << 4) | d
}

export function idOf(words: Uint32Array): string {
  let hex = ''
  for (const word of words) hex += word.toString(16).padStart(8, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Rows by id, of whatever form. */
export type IdRows = {
  /** False when it is there already (the first wins). */
  readonly addId: (id: string, row: number) => boolean
  /** The row of an id, or -1. */
  readonly findId: (id: string) => number
}

export type IdTable = IdRows & {
  /** Adds a uuid for this row; false when it is there already (the first wins). */
  readonly add: (words: Uint32Array, row: number) => boolean
  /** The row of a uuid, or -1. */
  readonly find: (words: Uint32Array) => number
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
  // Most entries hang on the one before them, so the last id is the one looked up.
  let last = { id: '', row: -1 }
  for (let row = 0; saved && row * wordsPerId < saved.words.length; row++) {
    const id = saved.words.subarray(row * wordsPerId, (row + 1) * wordsPerId)
    if (!isNothing(id)) uuids.add(id, row)
  }
  return {
    ...uuids,
    others,
    addId: (id, row) => {
      const isUuid = wordsOf(id, scratch)
      if (isUuid ? !uuids.add(scratch, row) : others.has(id)) return false
      if (!isUuid) others.set(id, row)
      last = { id, row }
      return true
    },
    findId: (id) => {
      if (id === last.id) return last.row
      return wordsOf(id, scratch) ? uuids.find(scratch) : (others.get(id) ?? -1)
    },
    idAt: (row) => {
      const id = uuids.words().subarray(row * wordsPerId, (row + 1) * wordsPerId)
      if (!isNothing(id)) return idOf(id)
      for (const [other, at] of others) if (at === row) return other
      return undefined
    },
  }
}

/** For callers that hold the ids anyway: a plain map, twice as fast. */
export function createIdMap(): IdRows {
  const rows = new Map<string, number>()
  // As above.
  let last = { id: '', row: -1 }
  return {
    addId: (id, row) => {
      if (rows.has(id)) return false
      rows.set(id, row)
      last = { id, row }
      return true
    },
    findId: (id) => (id === last.id ? last.row : (rows.get(id) ?? -1)),
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
  const home = (first: number, last: number): number => (first ^ last) & (slots.length - 1)
  /** The slot that holds this uuid, or the free one where it would go. */
  const slotOf = (id: Uint32Array): number => {
    const mask = slots.length - 1
    let slot = home(id[0] ?? 0, id[3] ?? 0)
    for (;;) {
      const row = (slots[slot] ?? 0) - 1
      if (row < 0 || isAt(row, id)) return slot
      slot = (slot + 1) & mask
    }
  }
  const growSlots = () => {
    const old = slots
    slots = new Int32Array(old.length * 4)
    const mask = slots.length - 1
    // By index and without a view of each id: this goes over all of them.
    for (let index = 0; index < old.length; index++) {
      const entry = old[index] ?? 0
      if (entry === 0) continue
      const at = (entry - 1) * wordsPerId
      let slot = home(words[at] ?? 0, words[at + 3] ?? 0)
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = entry
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
