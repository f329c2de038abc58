// The text of a summary as lines of sentences, each with its sources and the doubts about it.
import type { Doubt, SentenceSource, SummaryLine, SummarySentence } from './api.ts'

export type SummaryInput = {
  readonly doubts: readonly Doubt[]
  readonly sourcesOf: (sentence: string) => readonly SentenceSource[] | null
}

export function summaryLines(text: string, { doubts, sourcesOf }: SummaryInput): readonly SummaryLine[] {
  let isCode = false
  return text.split('\n').map((line): SummaryLine => {
    const isFence = /^\s*(```|~~~)/.test(line)
    if (isFence) isCode = !isCode
    // Code has no sentences.
    const parts = isCode || isFence ? [line] : sentencesIn(line)
    const isHeading = !isCode && isHeadingLine(line)
    const sentences = parts.map((part): SummarySentence => {
      const isPlain = isHeading || isFence || part.trim() === ''
      return {
        text: part,
        sources: isPlain ? null : sourcesOf(part),
        doubts: doubts.filter((doubt) => part.includes(doubt.text.slice(0, comparedLength))).map(({ type }) => type),
      }
    })
    return { isHeading, sentences }
  })
}

/** Reported claims are cut at 200 characters and may span more than one sentence. */
const comparedLength = 80

/** `## Title`, `**Title**`, `1. **Title:**`, `3. Files and Code Sections:` */
function isHeadingLine(line: string): boolean {
  return /^\s*(?:#{1,6} \S|(?:\d{1,2}\. )?\*\*[^*]+\*\*:?\s*$|\d{1,2}\. [A-Z][^.!?]{2,60}:\s*$)/.test(line)
}

/** Joined, they are the original line. */
export function sentencesIn(line: string): readonly string[] {
  return line.split(/(?<=[.!?:;]["'”’)\]*`]{0,2} )(?=["'“‘([*`]{0,2}[\p{Lu}\p{N}])/u)
}
