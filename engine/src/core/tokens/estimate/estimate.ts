// Estimates tokens in a large public vocabulary (o200k) without loading it. Uses one fitted weight per state and character class,
// and corrects languages in Latin script that are rare in vocabularies by how unusual their pairs of letters are. One pass, no
// allocation. Every UTF-16 code unit has a class; a state is the class of the last unit plus the length of its run. The script
// that fits the weights shares the alphabet, the states and the packing.
import { hanRarity, letterScores, pairWeights } from './weights.ts'

/** Classes counted as one run. `depths` are the run lengths at which the weights change. */
type Group = { readonly classes: readonly CharClass[]; readonly depths: readonly number[]; readonly wraps?: boolean }
/** The characters of the class, or the first and last code unit of each range. */
type CharClass = string | readonly number[]

const short = [1, 2, 3]
const word = [1, 2, 3, 4, 6, 9]

const groups: readonly Group[] = [
  {
    // Small letters; the additional ones of Vietnamese; other accented ones.
    classes: [
      'aeiou',
      'tnsrldcmph',
      'bfgjkqvwxyz',
      [0x1a0, 0x1b0, 0x1e00, 0x1eff],
      [0xc0, 0xff, 0xaa, 0xaa, 0xb5, 0xb5, 0xba, 0xba],
      [0x100, 0x2af, 0x300, 0x36f],
    ],
    depths: [1, 2, 3, 4, 6, 9, 13, 20],
  },
  { classes: ['AEIOU', 'BCDFGHJKLMNPQRSTVWXYZ'], depths: short },
  // Vocabularies of this kind split digits in threes, so the run is counted modulo three.
  { classes: ['0123456789'], depths: short, wraps: true },
  ...[' ', '\n\r', '\t', '_', '-', '.', ',', '/', ':', ';', '"', "'`", '(', ')', '[{', ']}', '<', '>', '=', '*', '#']
    .concat(['|', '+~', '^%&!?@$', '\\'])
    .map((mark) => ({ classes: [mark], depths: [1, 2, 3, 8, 16] })),
  between(short, 0x00, 0x1f, 0x7f, 0x9f),
  between(short, 0xa0, 0xbf),
  between(word, 0x370, 0x3ff, 0x1f00, 0x1fff),
  // Russian letters; those of other Slavic languages; those of Kazakh, Kyrgyz, Tajik …
  {
    classes: [
      [0x410, 0x44f],
      [0x400, 0x48f],
      [0x490, 0x52f],
    ],
    depths: word,
  },
  between(short, 0x530, 0x58f),
  between(short, 0x10a0, 0x10ff, 0x1c90, 0x1cbf),
  between(word, 0x590, 0x5ff),
  // Arabic letters and marks; additional ones of other languages.
  {
    classes: [
      [0x600, 0x670],
      [0x671, 0x77f, 0xfb50, 0xfdff, 0xfe70, 0xfeff],
    ],
    depths: word,
  },
  between(word, 0x900, 0x97f),
  between(short, 0x980, 0x9ff),
  between(short, 0xa00, 0xb7f),
  between(short, 0xb80, 0xbff),
  between(short, 0xc00, 0xcff),
  between(short, 0xd00, 0xdff),
  between(word, 0xe00, 0xe7f),
  between(word, 0xac00, 0xd7af, 0x1100, 0x11ff),
  between(word, 0x3040, 0x309f),
  between(word, 0x30a0, 0x30ff),
  // Han: common (the default), less common, rare. weights.ts has the lists.
  { classes: [[0x4e00, 0x9fff], [], [0x3400, 0x4dbf]], depths: short },
  between(short, 0x3000, 0x303f, 0xff00, 0xffef),
  between(short, 0x2000, 0x206f),
  between(short, 0x2190, 0x24ff, 0x25a0, 0x2bff),
  between(short, 0x2500, 0x259f),
  // Surrogates: emoji, other high surrogates, low surrogates.
  between([1], 0xd83c, 0xd83e),
  between([1], 0xd800, 0xd83b, 0xd83f, 0xdbff),
  between([1], 0xdc00, 0xdfff),
  between(short, 0x1000, 0x109f, 0x1780, 0x17ff),
  between(short, 0x1200, 0x139f),
  // Every other script, which is rare in vocabularies.
  between(short),
]

function between(depths: readonly number[], ...ends: readonly number[]): Group {
  return { classes: [ends], depths }
}

type State = {
  /** States with the same row share their weights. */
  readonly row: number
  /** The first class of the state's group, and the index after its last class. */
  readonly group: readonly [number, number]
  /** The length of the run after one more unit of the group. */
  readonly grown: number
}

export type Automaton = {
  readonly classCount: number
  /** The class of each row; -1 for the start. */
  readonly classOfRow: readonly number[]
  readonly states: readonly State[]
  /** The state of a run of one, by class. States of longer runs follow it. */
  readonly firstStates: readonly number[]
  /** The class of each UTF-16 code unit. */
  readonly classOf: Uint8Array
}

/** A class of the same group continues the run; every other class starts one. */
export function nextState({ group: [first, end], grown }: State, to: number, firstStates: readonly number[]): number {
  return (firstStates[to] as number) + (to >= first && to < end ? grown - 1 : 0)
}

export const hanFirst = 0x4e00
export const hanCount = 0x5200

/** `rarities` holds 0, 1 or 2 for each character from `hanFirst` on. */
export function buildAutomaton(rarities: Uint8Array): Automaton {
  const classes = groups.flatMap((group) => group.classes)
  return { classCount: classes.length, ...buildStates(), classOf: classesByUnit(classes, rarities) }
}

function classesByUnit(classes: readonly CharClass[], rarities: Uint8Array): Uint8Array {
  const classOf = new Uint8Array(65_536).fill(classes.length - 1)
  // Backwards, so that the first of two overlapping ranges wins.
  for (const [index, members] of [...classes.entries()].reverse()) {
    if (typeof members === 'string') for (const char of members) classOf[char.charCodeAt(0)] = index
    else for (let at = 0; at < members.length; at += 2) classOf.fill(index, members[at], (members[at + 1] ?? 0) + 1)
  }
  const common = classOf[hanFirst] ?? 0
  for (let offset = 0; offset < rarities.length; offset++) {
    classOf[hanFirst + offset] = common + (rarities[offset] as number)
  }
  return classOf
}

function buildStates(): Pick<Automaton, 'states' | 'firstStates' | 'classOfRow'> {
  const firstStates: number[] = []
  const classOfRow = [-1]
  const states: State[] = [{ row: 0, group: [0, 0], grown: 1 }]
  let first = 0
  for (const { classes, depths, wraps } of groups) {
    const group = [first, first + classes.length] as const
    const longest = depths.at(-1) ?? 1
    for (let index = first; index < group[1]; index++) {
      firstStates.push(states.length)
      for (let length = 1; length <= longest; length++) {
        if (depths.includes(length)) classOfRow.push(index)
        states.push({ row: classOfRow.length - 1, group, grown: length < longest ? length + 1 : wraps ? 1 : longest })
      }
    }
    first += classes.length
  }
  return { states, firstStates, classOfRow }
}

const latinAccent = 26
const latinBeyond = 27
/** White space and punctuation. */
export const gap = 28
/** Digits and symbols of code. */
const codeMark = 29
export const otherScript = 30
/** Bits per letter. A pair of letters is found by shifting. */
export const letterBits = 5

/** Neutral characters added to every stretch, so that a few words do not prove much. */
export const ballast = 100
/** Each stretch is scored separately, because a text may mix languages and code. */
const stretch = 2_048
/** Number of characters of a stretch that are always scored. */
const probe = 512
/** Shorter texts are not scored, because a name or path shows no language. */
const minUnits = 128
/** The largest increase over the estimate. */
export const maxExtra = 0.9

export const letterOf: Uint8Array = lettersByUnit()

function lettersByUnit(): Uint8Array {
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
/** The highest level. */
const maxLevel = 87

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

/** Comes before a number n: the next n levels are the same as in the row above. */
export const copyMark = '|'

export function unpackRows(packed: string, width: number): readonly number[] {
  const levels: number[] = []
  for (let at = 0; at < packed.length; at++) {
    if (packed[at] !== copyMark) levels.push(levelAt(packed, at))
    else for (let left = levelAt(packed, ++at); left > 0; left--) levels.push(levels.at(-width) ?? 0)
  }
  return levels
}

/** The level for a run of this many ordinary characters without another character at its end. */
export const maxGap = 43

/** Returns 0, 1 or 2 for each character. Each level is the number of ordinary characters (1) before a common or very rare one. */
export function unpackRarities(packed: string): Uint8Array {
  const rarities = new Uint8Array(hanCount).fill(1)
  let offset = 0
  for (let at = 0; at < packed.length; at++) {
    const level = levelAt(packed, at)
    offset += level >> 1
    if (level < 2 * maxGap) rarities[offset++] = 2 * (level & 1)
  }
  return rarities
}

const scale = 4096
const automaton = buildAutomaton(unpackRarities(hanRarity))
const kindOf = kindsByUnit()
const table = buildTable()
const scores = Float64Array.from(letterScores, (_, pair) => scoreOfLevel(levelAt(letterScores, pair)))

/** The class of each UTF-16 code unit in the low byte, and its letter in the high byte. */
function kindsByUnit(): Uint16Array {
  const kinds = new Uint16Array(automaton.classOf)
  for (let unit = 0; unit < kinds.length; unit++)
    kinds[unit] = (kinds[unit] as number) | ((letterOf[unit] as number) << 8)
  return kinds
}

/**
 * One cell per state and class: the weight in the upper 16 bits, the offset of the next state's cells in the lower. Every program
 * that loads the estimator builds this first, in code that V8 has not compiled yet. So the cells of a row are made once and
 * copied for its states, which differ only in the classes of their group.
 */
function buildTable(): Int32Array {
  const { states, firstStates, classCount } = automaton
  const rows = cellsOfRows()
  const cells = new Int32Array(states.length * classCount)
  for (let index = 0, at = 0; index < states.length; index++, at += classCount) {
    const state = states[index] as State
    const row = state.row * classCount
    cells.set(rows.subarray(row, row + classCount), at)
    for (let to = state.group[0]; to < state.group[1]; to++) {
      cells[at + to] = ((rows[row + to] as number) & ~0xffff) | (nextState(state, to, firstStates) * classCount)
    }
  }
  return cells
}

/** The cells of each row if every class started a new run. */
function cellsOfRows(): Int32Array {
  const { firstStates, classCount } = automaton
  const weights = Array.from({ length: maxLevel + 1 }, (_, level) => Math.round(tokensOfLevel(level) * scale) << 16)
  const cells = Int32Array.from(unpackRows(pairWeights, classCount))
  for (let at = 0; at < cells.length; at += classCount) {
    for (let to = 0; to < classCount; to++) {
      cells[at + to] = (weights[cells[at + to] as number] as number) | ((firstStates[to] as number) * classCount)
    }
  }
  return cells
}

/** 0 only for the empty string. */
export function estimateTokens(text: string): number {
  return text === '' ? 0 : Math.max(1, Math.round(weigh(text) / scale))
}

/** A detached function in a constant of this file, so that V8 inlines it. Four times faster on mixed kinds of strings. */
const unitAt = String.prototype.charCodeAt

/** Scoring letters takes time, so it stops when a stretch looks ordinary. */
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
    const extra = to - from < minUnits ? 0 : strangeness / (index - from + ballast)
    for (; index < to; index++) {
      const cell = table[at + ((kindOf[unitAt.call(text, index)] as number) & 0xff)] as number
      weight += cell >>> 16
      at = cell & 0xffff
    }
    sum += extra > 0 ? weight * (1 + Math.min(extra, maxExtra)) : weight
  }
  return sum
}
