// Estimates tokens in a large public vocabulary (o200k) without it: one fitted weight per state and character class,
// and a correction for languages in Latin script that vocabularies know little of, by how unusual their pairs of letters
// are. One pass, no allocation. The script that fits the weights shares the letters and the packing.
import { buildAutomaton, hanCount } from './classes.ts'
import { hanRarity, letterScores, pairWeights } from './weights.ts'

const latinAccent = 26
const latinBeyond = 27
/** White space and punctuation. */
export const gap = 28
/** Digits and symbols of code. */
const codeMark = 29
export const otherScript = 30
/** Bits of a letter: a pair is found by shifting. */
export const letterBits = 5

/** Neutral characters added to every stretch: a few words prove little. */
export const ballast = 100
/** Scored separately: a text may mix languages and code. */
const stretch = 2_048
/** The part of a stretch that is always scored. */
const probe = 512
/** Shorter texts are not scored: a name or path is no language. */
const fewest = 128
/** The largest increase over the estimate. */
export const mostExtra = 0.9

export const letterOf: Uint8Array = classify()

function classify(): Uint8Array {
  const letters = new Uint8Array(65_536).fill(otherScript)
  letters.fill(gap, 0, 0x80)
  for (const mark of '_0123456789{}()[]<>=;\\/*+|&#$@^~`') letters[mark.charCodeAt(0)] = codeMark
  for (let index = 0; index < 26; index++) {
    letters[0x41 + index] = index
    letters[0x61 + index] = index
  }
  letters.fill(gap, 0x80, 0xc0)
  letters.fill(latinAccent, 0xc0, 0x100)
  letters.fill(latinBeyond, 0x100, 0x370)
  letters.fill(latinBeyond, 0x1e00, 0x1f00)
  letters.fill(gap, 0x2000, 0x2070)
  return letters
}

/** The levels 0 to 87 are printable characters, from '#' on, without the backslash. */
export function levelAt(packed: string, index: number): number {
  const code = packed.charCodeAt(index)
  return code > 92 ? code - 36 : code - 35
}

export function tokensOfLevel(level: number): number {
  return level ** 2 / 1536
}

export function scoreOfLevel(level: number): number {
  return (level - 44) / 12
}

/** Before a number: so many levels are those of the row above. */
export const copyMark = '|'

export function unpackRows(packed: string, width: number): readonly number[] {
  const levels: number[] = []
  for (let at = 0; at < packed.length; at++) {
    if (packed[at] !== copyMark) levels.push(levelAt(packed, at))
    else for (let left = levelAt(packed, ++at); left > 0; left--) levels.push(levels.at(-width) ?? 0)
  }
  return levels
}

/** A level that stands for so many ordinary characters alone. */
export const longestGap = 43

/** 0, 1 or 2. Each level is the number of ordinary characters (1) before one that is common or very rare. */
export function unpackRarities(packed: string): Uint8Array {
  const rarities = new Uint8Array(hanCount).fill(1)
  let offset = 0
  for (let at = 0; at < packed.length; at++) {
    const level = levelAt(packed, at)
    offset += level >> 1
    if (level < 2 * longestGap) rarities[offset++] = 2 * (level & 1)
  }
  return rarities
}

const scale = 4096
const automaton = buildAutomaton(unpackRarities(hanRarity))
/** The class of each UTF-16 code unit in the low byte, its letter above. */
const kindOf = Uint16Array.from(automaton.classOf, (kind, unit) => ((letterOf[unit] ?? 0) << 8) | kind)
const table = buildTable()
const scores = Float64Array.from(letterScores, (_, pair) => scoreOfLevel(levelAt(letterScores, pair)))

/** One cell per state and class: the weight in the upper 16 bits, the offset of the next state's cells below. */
function buildTable(): Int32Array {
  const { states, classCount } = automaton
  const levels = unpackRows(pairWeights, classCount)
  const cells = new Int32Array(states.length * classCount)
  for (const [index, state] of states.entries()) {
    for (let to = 0; to < classCount; to++) {
      const weight = Math.round(tokensOfLevel(levels[state.row * classCount + to] ?? 0) * scale)
      cells[index * classCount + to] = (weight << 16) | ((state.next[to] ?? 0) * classCount)
    }
  }
  return cells
}

/** 0 only for the empty string. */
export function estimateTokens(text: string): number {
  return text === '' ? 0 : Math.max(1, Math.round(weigh(text) / scale))
}

/** Detached, and a constant of this file: then V8 inlines it, which is four times faster on mixed kinds of strings. */
const unitAt = String.prototype.charCodeAt

/** Scoring letters costs time, so it continues only while a stretch looks unusual. */
function weigh(text: string): number {
  let sum = 0
  let at = 0
  const { length } = text
  for (let from = 0; from < length; from += stretch) {
    const to = Math.min(length, from + stretch)
    let index = from
    let weight = 0
    let strangeness = 0
    let last = gap << letterBits
    do {
      const until = Math.min(to, index + probe)
      for (; index < until; index++) {
        const kind = kindOf[unitAt.call(text, index)] as number
        const cell = table[at + (kind & 0xff)] as number
        weight += cell >>> 16
        at = cell & 0xffff
        const letter = kind >>> 8
        strangeness += scores[last | letter] as number
        last = letter << letterBits
      }
    } while (index < to && strangeness > 0)
    const extra = to - from < fewest ? 0 : strangeness / (index - from + ballast)
    for (; index < to; index++) {
      const cell = table[at + ((kindOf[unitAt.call(text, index)] as number) & 0xff)] as number
      weight += cell >>> 16
      at = cell & 0xffff
    }
    sum += extra > 0 ? weight * (1 + Math.min(extra, mostExtra)) : weight
  }
  return sum
}
