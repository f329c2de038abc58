// Removes the made-up agent's own marks, such as `[task 1, step 2]`, from its answers, also while they stream in.

const mark = /\s*\[task \d+, [^\]]*\]/g
/** The beginning of something that may become a mark. */
const beginning = /\s*(\[(t(a(s(k( [^\]]*)?)?)?)?)?)?$/

export function withoutMarks(text: string): string {
  return text.replaceAll(mark, '')
}

export type MarkRemover = {
  /** What of the text so far can be shown now. */
  readonly take: (text: string) => string
  readonly reset: () => void
}

export function createMarkRemover(): MarkRemover {
  let held = ''
  return {
    take: (text) => {
      const clean = withoutMarks(held + text)
      const start = beginning.exec(clean)?.index ?? clean.length
      held = clean.slice(start)
      return clean.slice(0, start)
    },
    reset: () => {
      held = ''
    },
  }
}
