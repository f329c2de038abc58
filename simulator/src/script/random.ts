// The only source of randomness in the simulator: numbers that look random and are the same for the same seed. Never reads the
// clock or Math.random.
import { mulberry32 } from 'everlong/internal/testing'

/** Numbers in [0, 1). */
export type Random = () => number
export type Seed = number | string

export function seededRandom(...seeds: readonly Seed[]): Random {
  return mulberry32(hashOf(seeds.join(':')))
}

/** FNV-1a over UTF-16 units, 32 bits. A seed can be any text ("agent:7:3"), and similar seeds give unrelated numbers. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/** A whole number from 0 to `below` - 1. 0 if `below` is not positive. */
export function integerBelow(random: Random, below: number): number {
  return Math.floor(random() * Math.max(0, below))
}

export function pick<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[integerBelow(random, items.length)] ?? items[0]
}

/** A number written in letters and digits, for made-up ids and hashes. */
export function lettersFrom(random: Random, length: number): string {
  const alphabet = '0123456789abcdefghijkmnpqrstuvwxyz'
  return Array.from({ length }, () => alphabet[integerBelow(random, alphabet.length)]).join('')
}
