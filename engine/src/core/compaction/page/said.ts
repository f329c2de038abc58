// Which parts of a text say something that another text does not say. Sharing words proves nothing: a statement is said
// if one bullet or paragraph has all of its names and numbers and half of its other words.
import { sentenceEnd } from '../../text/condense.ts'
import { contentWords, plainWords } from './plain-words.ts'
import { isLeadIn, type ProseBlock, proseBlocks } from './sections.ts'

export type IsSaid = (statement: string) => boolean

/**
 * Said: "The build failed since `countLines` exists in common.go" where a bullet reads "- common.go has a `countLines`
 * already, so the build failed". Not said where the bullet lacks `countLines`, or where two bullets share the words.
 */
export function createIsSaid(text: string): IsSaid {
  const passages = passagesWith(text)
  return (statement) => {
    const { names, words } = termsIn(statement)
    const found = new Map<number, { names: number; words: number }>()
    const count = (term: string, kind: 'names' | 'words') => {
      for (const passage of passages.get(term) ?? []) {
        const counts = found.get(passage) ?? { names: 0, words: 0 }
        counts[kind]++
        found.set(passage, counts)
      }
    }
    for (const name of names) count(name, 'names')
    for (const word of words) count(word, 'words')
    const isEmpty = names.size + words.length === 0
    return (
      isEmpty || [...found.values()].some((counts) => counts.names === names.size && counts.words * 2 >= words.length)
    )
  }
}

/** The passages that hold each term: every bullet, row or paragraph together with the line that introduces it. */
function passagesWith(text: string): ReadonlyMap<string, readonly number[]> {
  const holding = new Map<string, number[]>()
  const blocks = proseBlocks(text)
  for (const [at, { text: own, parent }] of blocks.entries()) {
    const { names, words } = termsIn(`${blocks[parent]?.text ?? ''}\n${own}`)
    for (const term of [...names, ...words]) {
      const known = holding.get(term)
      if (known) known.push(at)
      else holding.set(term, [at])
    }
  }
  return holding
}

/** `countLinesStr`, `a_b`, `v2`, `4711`: these are compared whole, other words by their stem. */
const name = /\d|_|\p{Ll}\p{Lu}/u

function termsIn(text: string) {
  const tokens = text.replace(/^\s*(?:[-*+•]|\d+[.)])\s+/, '').match(/[\p{L}\p{N}_]+/gu) ?? []
  const names = new Set(tokens.filter((token) => name.test(token)).map((token) => `=${token.toLowerCase()}`))
  return { names, words: contentWords(text) }
}

export type UnsaidOptions = {
  readonly isSaid: IsSaid
  /** Collects what was kept, so that a later call does not keep it again. */
  readonly known: Set<string>
  /** Leaves out blocks of code in some language, and lines that only introduce one. Other fenced text may be output. */
  readonly withoutCode?: boolean
}

/**
 * The paragraphs and lists of a text in which at least one statement is new, whole: a finding is understood only together
 * with the sentences around it.
 */
export function unsaidIn(text: string, { isSaid, known, withoutCode = false }: UnsaidOptions): string {
  const kept = unitsOf(text).flatMap((unit) => {
    const shown = withoutCode ? unit.filter((block) => !isCode(block)) : unit
    const content = shown.filter((block) => !isLeadIn(block))
    const statements = content.flatMap(({ kind, text: own }) => (kind === 'code' ? [] : own.split(sentenceEnd)))
    const key = plainWords(unit.map((block) => block.text).join('\n'))
    const isRepeated = known.has(key) && contentWords(key).length >= selfContained
    const isOld = content.length === 0 ? shown.length < unit.length : statements.length > 0 && statements.every(isSaid)
    if (isRepeated || isOld) return []
    known.add(key)
    return shown
  })
  return kept.map((block) => block.text).join('\n')
}

/** "```ts", but not "```", which may hold the output of a command. */
function isCode({ kind, text }: ProseBlock): boolean {
  return kind === 'code' && /^\s*(?:```|~~~)[ \t]*\w/.test(text)
}

/** A paragraph of fewer words ("Done.") has another meaning after another request, so it is not a repetition. */
const selfContained = 6

/** A paragraph, or a list, table or code block with the line that introduces it. */
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
