// From a model's answer to the prose of a summary: the scratchpad goes, the tags go, runs of blank lines are folded. It
// judges nothing.

export type FormattedSummary = {
  readonly text: string
  /** The answer stopped inside a block: what should have come is not there. */
  readonly isCut: boolean
}

const open = /<summary>/i
const close = /<\/summary>/gi

export function formatSummary(answer: string): FormattedSummary {
  const withoutAnalysis = answer.replace(/<analysis>[\s\S]*?<\/analysis>/gi, '')
  const start = withoutAnalysis.search(open)
  const isOpenAnalysis = start < 0 && /<analysis>/i.test(withoutAnalysis)
  if (isOpenAnalysis) return { text: '', isCut: true }
  if (start < 0) return { text: folded(withoutAnalysis), isCut: false }
  const body = withoutAnalysis.slice(start).replace(open, '')
  // The last one: a summary may speak of its own tags.
  const end = [...body.matchAll(close)].at(-1)?.index
  return { text: folded(end === undefined ? body : body.slice(0, end)), isCut: end === undefined }
}

function folded(text: string): string {
  return text
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
