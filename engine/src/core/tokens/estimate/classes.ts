// The alphabet and states of the token estimator: every UTF-16 code unit has a class, and a state is the class of the
// last unit plus the length of its run. Shared with the script that fits the weights.

/** Classes counted as one run. `depths` are the run lengths at which the weights change. */
type Group = { readonly classes: readonly CharClass[]; readonly depths: readonly number[]; readonly wraps?: boolean }
/** Its characters, or the first and last code unit of each range. */
type CharClass = string | readonly number[]

const short = [1, 2, 3]
const word = [1, 2, 3, 4, 6, 9]

const groups: readonly Group[] = [
  {
    // Small letters; those Vietnamese adds; other accented ones.
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
  // Arabic letters and marks; those that other languages add.
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
  // Han: common (the default), less common, rare. Which is which is data in weights.ts.
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
  // Every other script: vocabularies hardly know them.
  between(short),
]

function between(depths: readonly number[], ...ends: readonly number[]): Group {
  return { classes: [ends], depths }
}

/** States with the same `row` share their weights. */
type State = { readonly row: number; readonly next: readonly number[] }

export type Automaton = {
  readonly classCount: number
  /** The class of each row; -1 for the start. */
  readonly classOfRow: readonly number[]
  readonly states: readonly State[]
  /** By UTF-16 code unit. */
  readonly classOf: Uint8Array
}

export const hanFirst = 0x4e00
export const hanCount = 0x5200

/** `rarities` has 0, 1 or 2 for each character from `hanFirst` on. */
export function buildAutomaton(rarities: Uint8Array): Automaton {
  const classes = groups.flatMap((group) => group.classes)
  return { classCount: classes.length, ...buildStates(), classOf: classify(classes, rarities) }
}

function classify(classes: readonly CharClass[], rarities: Uint8Array): Uint8Array {
  const classOf = new Uint8Array(65_536).fill(classes.length - 1)
  // Backwards, so that the first of two overlapping ranges wins.
  for (const [index, members] of [...classes.entries()].reverse()) {
    if (typeof members === 'string') for (const char of members) classOf[char.charCodeAt(0)] = index
    else for (let at = 0; at < members.length; at += 2) classOf.fill(index, members[at], (members[at + 1] ?? 0) + 1)
  }
  const common = classOf[hanFirst] ?? 0
  for (const [offset, rarity] of rarities.entries()) classOf[hanFirst + offset] = common + rarity
  return classOf
}

function buildStates(): Pick<Automaton, 'states' | 'classOfRow'> {
  const columns = groups.flatMap((group) => group.classes.map(() => ({ group, longest: group.depths.at(-1) ?? 1 })))
  // The states of a class are consecutive, one per run length, after the start state.
  const firstState: number[] = []
  let count = 1
  for (const { longest } of columns) {
    firstState.push(count)
    count += longest
  }
  const next = (group: Group | undefined, length: number): readonly number[] =>
    columns.map((column, index) => {
      const grown = length < column.longest ? length + 1 : column.group.wraps ? 1 : column.longest
      return (firstState[index] ?? 0) + (column.group === group ? grown : 1) - 1
    })
  const classOfRow = [-1]
  const states: State[] = [{ row: 0, next: next(undefined, 0) }]
  for (const [index, { group, longest }] of columns.entries()) {
    for (let length = 1; length <= longest; length++) {
      if (group.depths.includes(length)) classOfRow.push(index)
      states.push({ row: classOfRow.length - 1, next: next(group, length) })
    }
  }
  return { states, classOfRow }
}
