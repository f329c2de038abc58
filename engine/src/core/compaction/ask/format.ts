// From a model's answer to its summary: the scratchpad and the tags are removed, runs of blank lines are folded. Tags that
// the text only speaks of are left alone.

export type FormattedSummary = {
  readonly text: string
  /** The last block was not closed. */
  readonly isOpen: boolean
}

const close = /<\/summary>/gi

export function formatSummary(answer: string): FormattedSummary {
  const analysis = openingOf(answer, 'analysis')
  const rest = analysis === undefined ? answer : behindAnalysis(answer, analysis)
  const start = openingOf(rest, 'summary')
  if (start === undefined) {
    const isOpen = openingOf(rest, 'analysis') !== undefined
    return isOpen ? { text: '', isOpen: true } : { text: folded(rest), isOpen: false }
  }
  const body = rest.slice(start + '<summary>'.length)
  // The last one: a summary may speak of its own tags.
  const end = [...body.matchAll(close)].at(-1)?.index
  return { text: folded(end === undefined ? body : body.slice(0, end)), isOpen: end === undefined }
}

const longestPreface = 200

/** A tag opens a block where a line begins with it, or near the start; elsewhere somebody speaks of it. */
function openingOf(text: string, name: 'analysis' | 'summary'): number | undefined {
  for (const { index, 0: tag } of text.matchAll(new RegExp(`^[ \\t]*<${name}>|<${name}>`, 'gim'))) {
    const at = index + tag.length - `<${name}>`.length
    if (tag.length > `<${name}>`.length || at <= longestPreface || text[at - 1] === '\n') return at
  }
  return undefined
}

/** Without the scratchpad; as it is where that never ends. */
function behindAnalysis(answer: string, start: number): string {
  const end = answer.toLowerCase().indexOf('</analysis>', start)
  return end < 0 ? answer : `${answer.slice(0, start)}${answer.slice(end + '</analysis>'.length)}`
}

function folded(text: string): string {
  // Line by line: a pattern for trailing blanks is quadratic in a long run of them.
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
