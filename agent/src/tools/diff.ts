// A unified diff of one file, for people.
import { formatPatch, structuredPatch } from 'diff'

const maxLength = 40_000
/** Comparing texts with little in common takes long. */
const timeoutMs = 200

export type Diff = { readonly text: string; readonly added: number; readonly removed: number }

export function diffOf(name: string, before: string, after: string): Diff {
  const patch = structuredPatch(name, name, before, after, undefined, undefined, { context: 3, timeout: timeoutMs })
  if (!patch) {
    const text = `--- ${name}\n+++ ${name}\n(The texts are too different to be compared line by line.)`
    return { text, added: lines(after), removed: lines(before) }
  }
  const changed = patch.hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string) => changed.filter((line) => line.startsWith(sign)).length
  const text = formatPatch(patch).replace(/^=+\n/, '')
  const rest = '\n… (the rest of the diff is left out)'
  const shown = text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}${rest}` : text
  return { text: shown, added: count('+'), removed: count('-') }
}

function lines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}
