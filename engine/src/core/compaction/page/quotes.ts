// Quotations that a summary attributes to the user. One that cannot be found is marked, never removed: the summary may be
// right in substance, and what the reader needs to know is that these are not the user's words.
import { holdsWords, plainWords } from './plain-words.ts'

export const notFound = '(not found in the user’s messages)'

/** "the user said", "per the user:", "User: …", before the quotation or right behind it. */
const toTheUser =
  /\b(?:user|human)(?:['’]s)?\b[^"“”\n]{0,80}\b(?:said|says|asked|asks|wrote|writes|typed|stated|requested|replied|answered|confirmed|approved|agreed|told|insisted|noted|mentioned|explained|reported|responded|clarified|corrected|wants?|wanted|words?|message|request|feedback|quote|instruction|correction|question)\b|\b(?:user|human)(?:['’]s)?(?: \w+){0,3}:|^[-*\d.)\s]*(?:user|human)\b|\b(?:said|asked|requested|stated|quoted|told|per) (?:by )?the (?:user|human)\b/i
const behindQuote = /^[^.!?\n]{0,20}\b(?:the )?(?:user|human) (?:said|wrote|asked|typed|replied|answered)\b/i
const toAnother =
  /\b(?:assistant|agent|reviewer|bot|copilot|tool|output|error|log|comment|docs?|documentation|readme|file|test|hook|commit|skill|rule|title)\b[^"“”\n]{0,40}$/i

/**
 * In double, curly or single quotes, backticks or italics; bounded, since the text is a model's. Short ones are matched
 * too, so that the end of one is never taken for the start of the next.
 */
const quotation =
  /"([^"\n]{1,600})"|“([^”\n]{1,600})”|(?<![\p{L}\p{N}])'([^'\n]{8,600})'(?![\p{L}\p{N}])|`([^`\n]{1,600})`|(?<![*\p{L}\p{N}])\*([^*\n]{8,600})\*(?!\*)/gu

/** A longer line is not prose. */
const longestLine = 4_000

export type QuoteCheck = { readonly text: string; readonly falseQuotes: readonly string[] }

/** `isSaid` is asked only for quotations that the sentence attributes to the user. */
export function annotateQuotes(text: string, isSaid: (quote: string) => boolean): QuoteCheck {
  const falseQuotes: string[] = []
  const lines = text.split('\n').map((line) => {
    if (line.length > longestLine || !/user|human/i.test(line)) return line
    return line.replace(quotation, (whole: string, ...rest: unknown[]) => {
      const quote = rest.find((group) => typeof group === 'string') as string
      const at = rest.find((value) => typeof value === 'number') ?? 0
      if (!isSentence(quote) || !isAttributed(line, { at, end: at + whole.length }) || isSaid(quote)) return whole
      falseQuotes.push(quote)
      return `${whole} ${notFound}`
    })
  })
  return { text: lines.join('\n'), falseQuotes }
}

const consent = /^\W*(?:y|yes|yep|yeah|ok|okay|sure|go ahead|approved?|lgtm|do it|proceed|ship it|merge it)\b/i

/** One or two words in marks are mostly a name; a consent is a quotation however short it is. */
function isSentence(quote: string): boolean {
  return consent.test(quote) || quote.split(/\s+/).length >= 3 || /[\u3040-\u30ff\u4e00-\u9fff]{4}/.test(quote)
}

const longestLead = 400

function isAttributed(line: string, { at, end }: { readonly at: number; readonly end: number }): boolean {
  const before = line.slice(Math.max(0, at - longestLead), at)
  const sentence = before.slice(Math.max(...['.', '!', '?'].map((mark) => before.lastIndexOf(mark))) + 1)
  if (toAnother.test(sentence)) return false
  return toTheUser.test(sentence) || behindQuote.test(line.slice(end, end + 60))
}

/** Looks for a quotation in plain words; parts around an ellipsis are looked for one by one. */
export function isQuotedFrom(quote: string, texts: Iterable<string>): boolean {
  const parts = quote
    .split(/…|\.\.\.|\[[^\]]{0,80}\]/)
    .map(plainWords)
    .filter((part) => part.trim() !== '')
  if (parts.length === 0) return true
  const missing = new Set(parts)
  for (const text of texts) {
    for (const part of missing) if (holdsWords(text, part)) missing.delete(part)
    if (missing.size === 0) return true
  }
  return false
}
