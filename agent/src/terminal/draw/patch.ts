// Reads a unified diff line by line: added, removed and kept lines, with their numbers and changed words.
import { stripVTControlCharacters } from 'node:util'
import { diffWordsWithSpace } from 'diff/lib/diff/word.js'

/** A part of a line; it differs from the line that it replaces. */
export type Part = { readonly text: string; readonly isChanged: boolean }

export type PatchLine =
  | {
      readonly type: 'added' | 'removed' | 'kept'
      readonly parts: readonly Part[]
      /** Undefined if the diff does not contain it. */
      readonly before?: number
      readonly after?: number
    }
  /** The name of a file, in a diff of several. */
  | { readonly type: 'file'; readonly name: string }
  /** Lines between two changes are omitted. */
  | { readonly type: 'gap' }
  | { readonly type: 'note'; readonly text: string }

type ChangedLine = Extract<PatchLine, { readonly parts: unknown }>

const types = { '+': 'added', '-': 'removed', ' ': 'kept' } as const

/**
 * A hunk ends after as many lines as its head says: inside it, `--- a` is a removed line `-- a` and not the head of a file. A
 * hunk without numbers goes to the end.
 */
export function readPatch(diff: string): readonly PatchLine[] {
  const lines: PatchLine[] = []
  let left = { before: 0, after: 0 }
  let at: { before: number; after: number } | undefined
  const isInside = () => left.before > 0 || left.after > 0
  for (const raw of diff.replace(/\n+$/, '').split('\n')) {
    const line = stripVTControlCharacters(raw)
    const head = /^@@(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@|$)/.exec(line)
    // Some programs remove the space at the end of a line, which is all that an empty kept line has.
    const type = types[(line.slice(0, 1) || ' ') as keyof typeof types]
    if (head) {
      if (lines.some((each) => 'parts' in each) && lines.at(-1)?.type !== 'file') lines.push({ type: 'gap' })
      const [, before, beforeCount = '1', after, afterCount = '1'] = head
      at = before === undefined || after === undefined ? undefined : { before: Number(before), after: Number(after) }
      left = at
        ? { before: Number(beforeCount), after: Number(afterCount) }
        : { before: Number.POSITIVE_INFINITY, after: Number.POSITIVE_INFINITY }
    } else if (isInside() && type) {
      lines.push({ type, parts: [{ text: line.slice(1), isChanged: false }], ...numbersOf(type, at) })
      if (type !== 'added') left = { ...left, before: left.before - 1 }
      if (type !== 'removed') left = { ...left, after: left.after - 1 }
      if (at && type !== 'added') at.before++
      if (at && type !== 'removed') at.after++
    } else if (line.startsWith('\\')) lines.push({ type: 'note', text: line.slice(1).trim() })
    else if (line.startsWith('diff --git ')) lines.push({ type: 'file', name: nameIn(line) })
    else if (!isHead.test(line) && line !== '') lines.push({ type: 'note', text: line })
  }
  return withWords(lines)
}

const isHead =
  /^(?:Index: |={10,}|--- |\+\+\+ |index [\da-f]|(?:old|new|deleted|new file|deleted file) mode |similarity index )/

/** `diff --git a/src/main.ts b/src/main.ts` */
function nameIn(line: string): string {
  const names = line.slice('diff --git '.length)
  return names.slice(Math.ceil(names.length / 2)).replace(/^"?b\//, '')
}

function numbersOf(type: ChangedLine['type'], at: { readonly before: number; readonly after: number } | undefined) {
  if (!at) return {}
  if (type === 'added') return { after: at.after }
  return type === 'removed' ? { before: at.before } : { ...at }
}

export function countChanges(lines: readonly PatchLine[]): { readonly added: number; readonly removed: number } {
  const count = (type: PatchLine['type']) => lines.filter((line) => line.type === type).length
  return { added: count('added'), removed: count('removed') }
}

/** Added lines that follow removed ones replace them in their order. */
function withWords(lines: readonly PatchLine[]): readonly PatchLine[] {
  const marked = [...lines]
  for (let start = 0; start < lines.length; start++) {
    const removed = runOf('removed', lines, start)
    const added = runOf('added', lines, start + removed)
    for (let at = 0; at < Math.min(removed, added); at++) {
      const [from, to] = [lines[start + at], lines[start + removed + at]] as readonly ChangedLine[]
      const words = from && to && changedWords(textOf(from), textOf(to))
      if (!words) continue
      marked[start + at] = { ...from, parts: words.before }
      marked[start + removed + at] = { ...to, parts: words.after }
    }
    start += Math.max(0, removed + added - 1)
  }
  return marked
}

function runOf(type: PatchLine['type'], lines: readonly PatchLine[], start: number): number {
  let end = start
  while (lines[end]?.type === type) end++
  return end - start
}

function textOf({ parts }: ChangedLine): string {
  return parts.map(({ text }) => text).join('')
}

/** Comparing two lines takes time quadratic in their length. With this limit, a diff of 40,000 characters stays below 100 ms. */
const maxLine = 300
/** If two lines share less, nearly every word would be marked, which the colors of the lines show already. */
const minShared = 0.4

function changedWords(before: string, after: string) {
  if (before.length > maxLine || after.length > maxLine) return undefined
  const changes = diffWordsWithSpace(before, after)
  const shared = changes.filter(({ added, removed }) => !added && !removed)
  const length = shared.reduce((sum, { value }) => sum + value.trim().length, 0)
  if (length < minShared * Math.max(before.trim().length, after.trim().length)) return undefined
  const side = (other: 'added' | 'removed') =>
    changes
      .filter((change) => !change[other])
      .map(({ value, added, removed }): Part => ({ text: value, isChanged: added || removed }))
  return { before: side('added'), after: side('removed') }
}
