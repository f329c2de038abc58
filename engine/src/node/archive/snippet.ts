// The part of a text where the search terms are closest together, on one line.
import { headOf, tailOf } from '../../core/text/cut.ts'
import { wellFormed } from '../../core/text/well-formed.ts'
import type { Term } from './words.ts'

const hitsPerTerm = 200

export function snippetOf(text: string, terms: readonly Term[], width = 240): string {
  const hits = hitsIn(text, terms)
  const at = bestStart(hits, width)
  const start = at <= width / 4 ? 0 : wordStart(text, at - Math.floor(width / 4))
  const end = Math.min(text.length, start + width)
  const part = headOf(tailOf(text, text.length - start), width)
  const shown = wellFormed(part.replace(/\s+/g, ' ').trim())
  return `${start > 0 ? '… ' : ''}${shown}${end < text.length ? ' …' : ''}`
}

type Hit = { readonly at: number; readonly term: number }

function hitsIn(text: string, terms: readonly Term[]): readonly Hit[] {
  const hits: Hit[] = []
  for (const [term, { text: wanted }] of terms.entries()) {
    const words = wanted.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
    if (words.length === 0) continue
    // Character pairs overlap: the first stands for all.
    const pattern = new RegExp(isPairs(words) ? (words[0] ?? '') : words.join('[^\\p{L}\\p{N}]{1,200}'), 'giu')
    for (const found of text.matchAll(pattern)) {
      hits.push({ at: found.index, term })
      if (hits.length > hitsPerTerm * (term + 1)) break
    }
  }
  return hits.toSorted((a, b) => a.at - b.at)
}

function isPairs(words: readonly string[]): boolean {
  return words.length > 1 && words.every((word) => /^[\u1100-\uffdc\u{16fe0}-\u{3ffff}]{2}$/u.test(word))
}

/** The start of the window with the hitsPerTerm different terms. */
function bestStart(hits: readonly Hit[], width: number): number {
  let best = { at: hits[0]?.at ?? 0, count: 0 }
  for (const [from, hit] of hits.entries()) {
    const within = new Set<number>()
    for (let next = from; next < hits.length && (hits[next]?.at ?? 0) < hit.at + width / 2; next++) {
      within.add(hits[next]?.term ?? 0)
    }
    if (within.size > best.count) best = { at: hit.at, count: within.size }
  }
  return best.at
}

function wordStart(text: string, at: number): number {
  const space = text.slice(at, at + 30).search(/\s/)
  return space < 0 ? at : at + space + 1
}
