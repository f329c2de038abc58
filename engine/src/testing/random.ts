// Seeded random numbers: the same on every machine.

export type Random = {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** An integer from min to max, inclusive. */
  int(min: number, max: number): number
  pick<T>(list: readonly [T, ...(readonly T[])]): T
  chance(probability: number): boolean
  uuid(): string
  hex(digits: number): string
}

const byteHex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** sfc32: 128 bits of state, fast. */
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

/** mulberry32: 32 bits of state. */
export function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
