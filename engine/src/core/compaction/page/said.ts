// Finds the parts of a text that say something new compared with another text. Shared words alone prove nothing: a statement
// counts as said if one bullet or paragraph has all of its names and numbers and half of its other words.
import { sentenceEnd } from '../../text/cut.ts'
import { contentWords, plainWords } from '../../text/plain-words.ts'
import { isLeadIn, type ProseBlock, proseBlocks } from './sections.ts'

/**
 * A step is something that the agent said or did on the way. If it has long names, a passage with these names and a quarter of
 * its other words is enough, because the summary describes a later state of the same thing: "ran `gh api
 * pulls/7/comments/2734843645 …`" is said if a bullet reads "replied to 2734843645".
 */
export type IsSaid = (statement: string, as?: 'statement' | 'step') => boolean

/**
 * Said: "The build failed since `countLines` exists in common.go" where a bullet reads "- common.go has a `countLines`
 * already, so the build failed". Not said where the bullet lacks `countLines`, or where two bullets share the words.
 */
export function createIsSaid(text: string): IsSaid {
  const passages = passagesWith(text)
  return (statement, as = 'statement') => {
    const { names, words } = termsIn(statement)
    const long = as === 'step' ? names.filter(({ length }) => length > shortName) : []
    const required = long.length > 0 ? long : names
    if (required.length + words.length === 0) return true
    const minWords = words.length * (long.length > 0 ? 1 / 4 : 1 / 2)
    const passagesOf = (term: string): ReadonlySet<number> => passages.get(term) ?? new Set()
    const [rarest, ...others] = required.map(passagesOf).toSorted((one, other) => one.size - other.size)
    const candidates = rarest ?? new Set(words.flatMap((word) => [...passagesOf(word)]))
    return [...candidates].some(
      (at) =>
        others.every((named) => named.has(at)) && words.filter((word) => passagesOf(word).has(at)).length >= minWords,
    )
  }
}

/**
 * The passages that hold each term. A passage is a bullet, row or paragraph with the line that introduces it. A bullet also
 * includes its own bullets.
 */
function passagesWith(text: string): ReadonlyMap<string, ReadonlySet<number>> {
  const holding = new Map<string, Set<number>>()
  const blocks = proseBlocks(text)
  for (const [at, { text: own, parent }] of blocks.entries()) {
    const above = blocks[parent]
    const { names, words } = termsIn(`${above?.text ?? ''}\n${own}`)
    const places = above?.kind === 'item' ? [at, parent] : [at]
    for (const term of [...names, ...words]) {
      const known = holding.get(term) ?? new Set()
      for (const place of places) known.add(place)
      holding.set(term, known)
    }
  }
  return holding
}

/** `countLinesStr`, `a_b`, `v2`, `4711`: these are compared whole, other words by their stem. */
const name = /\d|_|\p{Ll}\p{Lu}/u

/** In a step, shorter names are versions, line numbers and parts of paths: the 112 in `pulls/112/comments/2734843645`. */
const shortName = 6

/** "at line 178", "lines 464 and 585", "gate.ts:12:4": true only until the file changes, so summaries leave them out. */
const lineNumbers = /\blines? ~?\d+(?:(?:\s?[-–,]\s?| and )\d+)*|(?<=\w\.\w{1,5}):\d+(?:[-:]\d+)?/gi

/** "- gate.ts:12 calls openGate" → the name openGate, and the other words by their stems. The line number is left out. */
function termsIn(whole: string) {
  const text = whole.replace(lineNumbers, ' ')
  const tokens = text.replace(/^\s*(?:[-*+•]|\d+[.)])\s+/, '').match(/[\p{L}\p{N}_]+/gu) ?? []
  const names = tokens.filter((token) => name.test(token)).map((token) => `=${token.toLowerCase()}`)
  return { names: [...new Set(names)], words: contentWords(text) }
}

export type UnsaidOptions = {
  readonly isSaid: IsSaid
  /** Collects the kept paragraphs, so that a later call does not keep them again. */
  readonly known: Set<string>
  /** Leaves out blocks of code in some language, and lines that only introduce one. Other fenced text may be output. */
  readonly withoutCode?: boolean
}

/**
 * Returns the paragraphs of a text that have at least one new statement. They stay whole, because a finding is understood only
 * with the sentences around it. A list or table that is mostly old is reduced to its new items or rows and the line that
 * introduces them. A heading without content is left out.
 */
export function unsaidIn(text: string, { isSaid, known, withoutCode = false }: UnsaidOptions): string {
  const kept = unitsOf(text).flatMap((unit) => {
    const shown = withoutCode ? unit.filter((block) => !isCode(block)) : unit
    const content = shown.filter((block, at) => !isLeadIn(block) && !isHead(shown, at))
    const isOldBlock = ({ kind, text: own }: ProseBlock) =>
      kind !== 'code' && own.split(sentenceEnd).every((sentence) => introduces.test(sentence) || isSaid(sentence))
    const key = plainWords(unit.map((block) => block.text).join('\n'))
    const isRepeated = known.has(key) && contentWords(key).length >= selfContained
    const isOld = content.length === 0 ? shown.length < unit.length || unit.every(isHeading) : content.every(isOldBlock)
    if (isRepeated || isOld) return []
    known.add(key)
    const isMostlyOld = content.filter(isOldBlock).length >= content.length * mostlyOld
    return isMostlyOld ? newBlocks(shown, isOldBlock) : shown
  })
  return kept.map((block) => block.text).join('\n')
}

/**
 * A list with this share of old items is mostly old. If two of three items are old, only the new one is shown. If one is old,
 * all three are, because the new ones may refer to it.
 */
const mostlyOld = 2 / 3

/**
 * Keeps new items and rows, and the lines that introduce them: the item above, or the head of the table (its first two rows).
 */
function newBlocks(unit: readonly ProseBlock[], isOld: (block: ProseBlock) => boolean): readonly ProseBlock[] {
  const kept: ProseBlock[] = []
  for (const [at, block] of [...unit.entries()].toReversed()) {
    const isAbove = (kept[0]?.depth ?? 0) > block.depth
    const isKept = block.kind === 'row' ? isHead(unit, at) : block.kind !== 'item' || isAbove
    if (isKept || !isOld(block)) kept.unshift(block)
  }
  return kept
}

/** "| Part | Color |" and "| --- | --- |", the first two rows of a table. */
function isHead(unit: readonly ProseBlock[], at: number): boolean {
  const isRow = (place: number) => unit[place]?.kind === 'row'
  return isRow(at) && !(isRow(at - 1) && isRow(at - 2))
}

/** "Two reasons:" says nothing without what it introduces. */
const introduces = /:\s*$/

/** "## Files" or "FILES", but not "**All tests pass**", which says something. */
function isHeading(block: ProseBlock): boolean {
  return isLeadIn(block) && !/\*\*|__|:\s*$/.test(block.text)
}

/** "```ts", but not "```", which may hold the output of a command. */
function isCode({ kind, text }: ProseBlock): boolean {
  return kind === 'code' && /^\s*(?:```|~~~)[ \t]*\w/.test(text)
}

/** A paragraph of fewer words ("Done.") has another meaning after another request, so it is not a repetition. */
const selfContained = 6

/** "Two reasons:\n- a\n- b\n\nDone." → "Two reasons:" with both items, and "Done." */
function unitsOf(text: string): readonly (readonly ProseBlock[])[] {
  const units: ProseBlock[][] = []
  let before: ProseBlock | undefined
  for (const block of proseBlocks(text)) {
    const isMore = before !== undefined && (isLeadIn(before) || block.kind !== 'paragraph')
    if (isMore) units.at(-1)?.push(block)
    else units.push([block])
    before = block
  }
  return units
}
