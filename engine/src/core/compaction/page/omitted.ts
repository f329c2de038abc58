// Search terms for exchanges that the page leaves out or shortens, one for each.
import type { Exchange, Ledger } from '../../ledger/facts.ts'
import { isCommonWord } from '../../text/plain-words.ts'

const maxTerms = 8
/** With fewer exchanges, nothing can be called rare. */
const minExchanges = 4
/** `parseGate`, `gate_open`, `hinge.css`, `v2`: the last part of a path, without marks around it. */
const term = /[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?/gu
/** `gate_open`, `parseGate`, `hinge.css`, `v2`, `2x`; not "gate". */
const name = /_|\p{Ll}\p{Lu}|[\p{L}\d]\.\p{L}|\p{L}-?\d|\d-?\p{L}/u
const minTerm = 4
const maxTerm = 40

/**
 * Finds one term for each exchange that is frequent in it, rare in the others and not on the page: "Why does parseGate fail?"
 * with a report on `parseGate` → "parseGate". A capitalized word ("Berlin") must occur twice. A common one ("tracks") never
 * counts, because it would find anything. Returns the best terms, oldest first.
 */
export function omittedTerms({ exchanges }: Ledger, page: string): readonly string[] {
  if (exchanges.length < minExchanges) return []
  const counts = exchanges.map(countsIn)
  const spread = new Map<string, number>()
  for (const terms of counts) for (const key of terms.keys()) spread.set(key, (spread.get(key) ?? 0) + 1)
  const shown = new Set(page.toLowerCase().match(term))
  const best = counts.flatMap((terms, at) => {
    const rated = [...terms]
      .filter(([key, { count, text }]) => !shown.has(key) && (name.test(text) || (count > 1 && /^\p{Lu}/u.test(text))))
      .map(([key, { count, text }]) => ({
        ...{ at, text },
        worth: count * Math.log2(exchanges.length / (spread.get(key) ?? 1)) * (name.test(text) ? 2 : 1),
      }))
    return rated.toSorted((a, b) => b.worth - a.worth).slice(0, 1)
  })
  const rare = best.filter(({ worth }) => worth > 0)
  const chosen = rare.toSorted((a, b) => b.worth - a.worth).slice(0, maxTerms)
  return [...new Set(chosen.toSorted((a, b) => a.at - b.at).map(({ text }) => text))]
}

type Count = { readonly text: string; readonly count: number }

/** "Berlin, BERLIN and 2026" → berlin: 2. Numbers, short words and common ones are not counted. */
function countsIn({ text, about = '', report = '', steps = [] }: Exchange): ReadonlyMap<string, Count> {
  const said = [text, about, report, ...steps.map((step) => step.text)].join('\n')
  const found = new Map<string, Count>()
  for (const word of said.match(term) ?? []) {
    const key = word.toLowerCase()
    const { text = word, count = 0 } = found.get(key) ?? {}
    const isTerm = word.length >= minTerm && word.length <= maxTerm && !/^[\d.-]+$/.test(word) && !isCommonWord(key)
    if (isTerm) found.set(key, { text, count: count + 1 })
  }
  return found
}
