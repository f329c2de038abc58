// Numbers the lines of a text from a first line on, within limits. Adds a note about the rest and how to read it.

const maxLines = 2_000
const maxLineLength = 2_000
const maxCharacters = 100_000

export type Range =
  | {
      readonly type: 'read'
      readonly text: string
      readonly first: number
      readonly count: number
      readonly lines: number
    }
  | { readonly type: 'beyond'; readonly lines: number }

export function readRange(
  whole: string,
  { offset, limit = maxLines }: { readonly offset: number | undefined; readonly limit: number | undefined },
): Range {
  if (whole === '') return { type: 'read', text: '(The file is empty.)', first: 1, count: 0, lines: 0 }
  const all = whole.split('\n')
  // A line end at the very end starts no new line.
  if (all.at(-1) === '') all.pop()
  const first = Math.max(1, offset ?? 1)
  if (first > all.length) return { type: 'beyond', lines: all.length }
  const shown: string[] = []
  let characters = 0
  for (const line of all.slice(first - 1, first - 1 + limit)) {
    const numbered = `${first + shown.length}\t${shortened(line.endsWith('\r') ? line.slice(0, -1) : line)}`
    characters += numbered.length + 1
    if (characters > maxCharacters && shown.length > 0) break
    shown.push(numbered)
  }
  const next = first + shown.length
  const isAll = next > all.length
  const rest = `[truncated: lines ${first} to ${next - 1} of ${all.length}; continue with offset ${next}]`
  const text = isAll ? shown.join('\n') : `${shown.join('\n')}\n\n${rest}`
  return { type: 'read', text, first, count: shown.length, lines: all.length }
}

export function shortened(line: string, most = maxLineLength): string {
  if (line.length <= most) return line
  return `${line.slice(0, most).toWellFormed()}… [${line.length - most} more characters]`
}
