// The part of a text that is shown with a match.
import { headOf, tailOf, wellFormed } from '../text/cut.ts'
import { isUnspaced, type Term, wordsOf } from './terms.ts'

const hitsPerTerm = 200
const width = 240

/** The part of a text where the search terms are closest together, on one line. */
export function snippetOf(text: string, terms: readonly Term[]): string {
  const at = bestStart(hitsIn(text, terms))
  const start = at <= width / 4 ? 0 : wordStart(text, at - Math.floor(width / 4))
  const part = headOf(tailOf(text, text.length - start), width)
  const shown = wellFormed(part.replace(/\s+/g, ' ').trim())
  return `${start > 0 ? '… ' : ''}${shown}${start + width < text.length ? ' …' : ''}`
}

/** The snippet of a call and its result, which are one match: agents search for the output of a command and remember the command. */
export function callSnippet(call: string, result: string): string {
  return `${call} → ${result}`
}

type Hit = { readonly at: number; readonly term: number }

function hitsIn(text: string, terms: readonly Term[]): readonly Hit[] {
  const hits = terms.flatMap((term, nth) => {
    const found = [...text.matchAll(patternOf(term))].slice(0, hitsPerTerm)
    return found.map(({ index }) => ({ at: index, term: nth }))
  })
  return hits.toSorted((a, b) => a.at - b.at)
}

function patternOf(term: Term): RegExp {
  const words = wordsOf(term)
  // Pairs of characters overlap, so the first one is enough.
  const isPairs = words.length > 1 && words.every(isUnspaced)
  const typed = isPairs ? (words[0] ?? '') : words.join('[^\\p{L}\\p{N}]{1,200}')
  return new RegExp([typed, ...term.forms].join('|'), 'giu')
}

/** Start of the half of the snippet with the most different terms. */
function bestStart(hits: readonly Hit[]): number {
  let best = { at: hits[0]?.at ?? 0, count: 0 }
  for (const [from, { at }] of hits.entries()) {
    const within = new Set<number>()
    for (let next = from; next < hits.length && (hits[next]?.at ?? 0) < at + width / 2; next++) {
      within.add(hits[next]?.term ?? 0)
    }
    if (within.size > best.count) best = { at, count: within.size }
  }
  return best.at
}

function wordStart(text: string, at: number): number {
  return at + text.slice(at, at + 30).search(/\s/) + 1
}
