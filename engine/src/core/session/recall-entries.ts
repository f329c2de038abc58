// Searches and reads entries without an index.
import { defined, type JsonObject } from '../message/json.ts'
import type { Recalled, RecallMatch } from '../ports/session-store.ts'
import { callsOnceFirst, searchTexts } from '../recall/rank.ts'
import { callSnippet, snippetOf } from '../recall/snippet.ts'
import { parseTerms } from '../recall/terms.ts'
import { doNow, type Work } from '../text/slices.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { type RecordText, textsOf } from '../transcript/format/record-texts.ts'

export function recallFrom(entries: Iterable<Entry>, words: string, limit: number): Recalled {
  return doNow(recallingFrom(entries, words, limit))
}

export function recallingFrom(entries: Iterable<Entry>, words: string, limit: number): Work<Recalled> {
  return recallingAt(numbered(entries), words, limit)
}

function* numbered(entries: Iterable<Entry>): Generator<NumberedEntry> {
  let place = 0
  for (const { record } of entries) yield { record, place: place++ }
}

/** `place`: its index in the session. */
export type NumberedEntry = { readonly record: JsonObject; readonly place: number }

type Said = Omit<RecallMatch, 'snippet'> & { readonly text: string; readonly place: number }

/** Best first, in the order of core/recall. */
export function* recallingAt(entries: Iterable<NumberedEntry>, words: string, limit: number): Work<Recalled> {
  const terms = parseTerms(words)
  const all = terms.length === 0 ? [] : yield* searchTexts(textsIn(entries), terms)
  const found = callsOnceFirst(all, {
    callOf: ({ toolUseId }) => toolUseId ?? null,
    isCall: ({ kind }) => kind === 'tool-use',
  })
  const results = new Map(
    all.flatMap((one) =>
      one.kind === 'tool-result' && one.toolUseId !== undefined ? [[one.toolUseId, one.text]] : [],
    ),
  )
  const matches = found.slice(0, limit).map(({ text, place: _, ...match }) => {
    const result = match.kind === 'tool-use' ? results.get(match.toolUseId ?? '') : undefined
    const snippet = snippetOf(text, terms)
    return { ...match, snippet: result === undefined ? snippet : callSnippet(snippet, snippetOf(result, terms)) }
  })
  return { matches, more: found.length > limit }
}

function* textsIn(entries: Iterable<NumberedEntry>): Generator<Said> {
  for (const { record, place } of entries) {
    const { uuid, timestamp } = record
    if (typeof uuid !== 'string') continue
    const time = typeof timestamp === 'string' && !Number.isNaN(Date.parse(timestamp)) ? timestamp : undefined
    for (const piece of textsOf(record)) {
      const { kind, text, toolUseId } = piece
      // Edits and boundaries are not messages.
      if (kind !== 'system') yield { id: idOf(piece) ?? uuid, kind, time, ...defined({ toolUseId }), text, place }
    }
  }
}

/** An entry by its uuid, or a tool result by the id of its tool use. */
export function readFrom(entries: Iterable<Entry>, id: string): string | undefined {
  for (const { record } of entries) {
    const pieces = textsOf(record)
    const chosen = record.uuid === id ? pieces : pieces.filter((piece) => idOf(piece) === id)
    if (chosen.length > 0) return chosen.map(({ text }) => text).join('\n\n')
  }
  return undefined
}

/** A tool result has the id of its tool use. */
function idOf({ kind, toolUseId }: RecordText): string | undefined {
  return kind === 'tool-result' ? toolUseId : undefined
}
