// Recall for a session in memory: searches words, newest first, and reads originals by id. Sessions on disk have an archive.
import type { Recalled, RecallMatch } from '../ports/recalled.ts'
import { headOf, tailOf } from '../text/cut.ts'
import { wellFormed } from '../text/well-formed.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { type Piece, piecesOf } from '../transcript/format/record-pieces.ts'
import { timeIn } from '../transcript/format/time.ts'

const snippetLength = 300
/** A pasted book would be searched word by word. */
const mostWords = 32
const longestQuery = 4_000

export function recallFrom(entries: Iterable<Entry>, words: string, limit = 10): Recalled {
  const wanted = headOf(words, longestQuery)
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, mostWords)
  if (wanted.length === 0) return { matches: [], more: false }
  const found: RecallMatch[] = []
  for (const { record } of entries) {
    const { uuid, timestamp } = record
    if (typeof uuid !== 'string') continue
    const time = typeof timestamp === 'string' && !Number.isNaN(timeIn(timestamp)) ? timestamp : undefined
    for (const piece of piecesOf(record)) {
      const { text } = piece
      const low = text.toLowerCase()
      // Edits and boundaries are no messages.
      if (piece.kind === 'system' || !wanted.every((word) => low.includes(word))) continue
      const at = Math.max(0, low.indexOf(wanted[0] ?? '') - snippetLength / 3)
      const snippet = wellFormed(headOf(tailOf(text, text.length - at), snippetLength))
      found.push({ id: idOf(piece) ?? uuid, kind: piece.kind, time, snippet })
    }
  }
  return { matches: found.toReversed().slice(0, limit), more: found.length > limit }
}

/** An entry by its uuid, or a tool result by the id of its tool use. */
export function readFrom(entries: Iterable<Entry>, id: string): string | undefined {
  for (const { record } of entries) {
    const pieces = piecesOf(record)
    const chosen = record.uuid === id ? pieces : pieces.filter((piece) => idOf(piece) === id)
    if (chosen.length > 0) return chosen.map(({ text }) => text).join('\n\n')
  }
  return undefined
}

/** A tool result has the id of its tool use. */
function idOf({ kind, toolUseId }: Piece): string | undefined {
  return kind === 'tool-result' ? toolUseId : undefined
}
