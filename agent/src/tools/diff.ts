// A unified diff of one file, for people.
import { createTwoFilesPatch, diffLines } from 'diff'

const longest = 40_000
/** Comparing takes long for texts that have little in common. */
const timeoutMs = 500

export type Diff = { readonly text: string; readonly added: number; readonly removed: number }

export function diffOf(name: string, before: string, after: string): Diff {
  const parts = diffLines(before, after, { timeout: timeoutMs })
  const count = (is: 'added' | 'removed') =>
    parts
      ? parts.reduce((sum, part) => sum + (part[is] ? (part.count ?? 0) : 0), 0)
      : lines(is === 'added' ? after : before)
  const patch = createTwoFilesPatch(name, name, before, after, undefined, undefined, { context: 3, timeout: timeoutMs })
  const text = patch?.replace(/^=+\n/, '') ?? `--- ${name}\n+++ ${name}\n(too different for a line by line comparison)`
  const shown =
    text.length > longest ? `${text.slice(0, longest).toWellFormed()}\n… (the rest of the diff is left out)` : text
  return { text: shown, added: count('added'), removed: count('removed') }
}

function lines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}
