// A map from ids to row numbers that holds millions of uuids in a few bytes each: 16 for the uuid, 8 for its slot.
// Ids of another form are kept as strings.

const wordsPerId = 4
const nibbles = new Int8Array(256).fill(-1)
for (let digit = 0; digit < 16; digit++) nibbles['0123456789abcdef'.charCodeAt(digit)] = digit
/** Where the 32 digits of a uuid lie among its 36 characters. */
const digitPlaces = Uint8Array.from({ length: 36 }, (_, at) => at).filter((at) => ![8, 13, 18, 23].includes(at))

export const idLength = 36

/** Reads the 36 bytes of a uuid into four words; false when they are none (only lower-case ones count). */
export function readId(bytes: Uint8Array, at: number, words: Uint32Array): boolean {
  for (let word = 0; word < wordsPerId; word++) {
    let value = 0
    for (let digit = word * 8; digit < word * 8 + 8; digit++) {
      const nibble = nibbles[bytes[at + (digitPlaces[digit] ?? 0)] ?? 0] ?? -1
      if (nibble < 0) return false
      value = (value << 4) | nibble
    }
    words[word] = value
  }
  return bytes[at + 8] === 0x2d && bytes[at + 13] === 0x2d && bytes[at + 18] === 0x2d && bytes[at + 23] === 0x2d
}

export type UuidTable = {
  /** Adds a uuid for this row; false when it is there already (the first wins). */
  readonly add: (words: Uint32Array, row: number) => boolean
  /** The row of a uuid, or -1. */
  readonly find: (words: Uint32Array) => number
  readonly addOther: (id: string, row: number) => boolean
  readonly findId: (id: string) => number
  readonly others: ReadonlyMap<string, number>
  /** Four words for each row; zeros where it has no uuid. */
  readonly words: () => Uint32Array
}

export function createUuidTable(saved?: {
  readonly words: Uint32Array
  readonly others: ReadonlyMap<string, number>
}): UuidTable {
  let words = new Uint32Array(wordsPerId * 1024)
  let slots = new Int32Array(2048)
  let count = 0
  let rows = 0
  const others = new Map(saved?.others)
  const scratch = new Uint32Array(wordsPerId)

  /** The slot that holds this uuid, or the free one where it would go. */
  const slotOf = (id: Uint32Array): number => {
    const mask = slots.length - 1
    let slot = ((id[0] ?? 0) ^ (id[3] ?? 0)) & mask
    for (;;) {
      const row = (slots[slot] ?? 0) - 1
      if (row < 0) return slot
      const at = row * wordsPerId
      if (words[at] === id[0] && words[at + 1] === id[1] && words[at + 2] === id[2] && words[at + 3] === id[3])
        return slot
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
    words.set(id, at)
    slots[slot] = row + 1
    count++
    rows = Math.max(rows, row + 1)
    return true
  }
  if (saved) {
    for (let row = 0; row * wordsPerId < saved.words.length; row++) {
      const id = saved.words.subarray(row * wordsPerId, (row + 1) * wordsPerId)
      if (id.some((word) => word !== 0)) add(id, row)
    }
  }
  return {
    add,
    others,
    words: () => words.subarray(0, rows * wordsPerId),
    find: (id) => (slots[slotOf(id)] ?? 0) - 1,
    addOther: (id, row) => !others.has(id) && others.set(id, row) === others,
    findId: (id) => {
      const bytes = Buffer.from(id, 'latin1')
      if (bytes.length !== idLength || !readId(bytes, 0, scratch)) return others.get(id) ?? -1
      return (slots[slotOf(scratch)] ?? 0) - 1
    },
  }
}

function grown(words: Uint32Array, least: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(words.length * 2, least))
  larger.set(words)
  return larger
}
