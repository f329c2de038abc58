// Chance for this room and for those that simulate and measure: small seeded generators. Same seed, same numbers, on
// every machine. Never for secrets.

export type Random = {
  /** At least 0, below 1. */
  next(): number
  /** A whole number from min to max, both included. */
  int(min: number, max: number): number
  pick<T>(list: readonly [T, ...(readonly T[])]): T
  chance(probability: number): boolean
  /** Of version 4 form. */
  uuid(): string
  /** So many hexadecimal digits. */
  hex(digits: number): string
}

const byteHex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The sfc32 generator: 128 bits of state, quick, and good enough for made-up sessions. */
export function random(seed: number): Random {
  const bits = sfc32(seed)
  const next = () => bits() / 4294967296
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  const hex = (digits: number) => {
    let text = ''
    while (text.length < digits) text += hex32(bits())
    return text.slice(0, digits)
  }
  return {
    next,
    int,
    hex,
    pick: (list) => list[int(0, list.length - 1)] ?? list[0],
    chance: (probability) => next() < probability,
    uuid: () => {
      const [a, b, c, d] = [hex32(bits()), hex32(bits()), bits(), hex32(bits())]
      const e = hex32(((c & 0x3fffffff) | 0x80000000) >>> 0)
      return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${e.slice(0, 4)}-${e.slice(4)}${d}`
    },
  }
}

function hex32(word: number): string {
  return `${byteHex[word >>> 24]}${byteHex[(word >>> 16) & 255]}${byteHex[(word >>> 8) & 255]}${byteHex[word & 255]}`
}

function sfc32(seed: number): () => number {
  let a = 0x9e3779b9
  let b = seed | 0
  let c = Math.floor(seed / 4294967296) | 0
  let counter = 1
  const step = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }
  for (let round = 0; round < 15; round += 1) step()
  return step
}

/** mulberry32: 32 bits of state. Numbers in [0, 1), for whoever needs no more than those. */
export function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
