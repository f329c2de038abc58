// What stands around a summary in the new context: where it comes from, where the rest lies, and whether to go on.
// The summary itself is handed in and never changed.

export type ContinuationInput = {
  readonly summary: string
  /** manual adds nothing; auto goes on with the task; autonomous also says that this is no first start. */
  readonly mode: 'manual' | 'auto' | 'autonomous'
  /** Where the full transcript lies, for agents that can read it. */
  readonly transcriptPath?: string | undefined
  /** The agent has the recall tool. */
  readonly recall?: boolean | undefined
  /** Messages follow, or precede, word for word. */
  readonly kept?: 'after' | 'before' | undefined
  /** There is hardly room for the summary itself. */
  readonly isShort?: boolean | undefined
}

export function continuationText(input: ContinuationInput): string {
  if (input.isShort) return input.summary
  const parts = [opening(input), `Summary:\n${input.summary}`, whereTheRestIs(input), goOn[input.mode]]
  return parts.filter((part) => part !== '').join('\n\n')
}

const begins = 'This conversation continues from an earlier one whose context ran out.'
const goesOn = 'What followed the messages above no longer fitted in the context.'

/** Whether a text is one of these: where messages come without a word on who wrote them. */
export function isContinuation(text: string): boolean {
  return text.startsWith(begins) || text.startsWith(goesOn)
}

function opening({ kept }: ContinuationInput): string {
  if (kept === 'before') return `${goesOn} This summary, made from it, stands in its place:`
  const start = `${begins} The summary below covers the earlier part.`
  return kept === 'after' ? `${start} The newest messages follow it word for word.` : start
}

function whereTheRestIs({ transcriptPath, recall }: ContinuationInput): string {
  const ways = [
    ...(recall ? ['search it with the recall tool ("query" finds, "read" with an id gives the exact text)'] : []),
    ...(transcriptPath === undefined ? [] : [`read the transcript at ${transcriptPath}`]),
  ]
  if (ways.length === 0) return ''
  return `Nothing is lost: for exact code, outputs or wording from before, ${ways.join(', or ')}.`
}

const goOn: Readonly<Record<ContinuationInput['mode'], string>> = {
  manual: '',
  auto: 'Go on with the last task from where it stood. Ask nothing that the summary answers, do not repeat or acknowledge it, and do not say that you are continuing.',
  autonomous:
    'Go on with the last task from where it stood. Ask nothing that the summary answers, do not repeat or acknowledge it, and do not say that you are continuing. You work autonomously and this is not a first start: the work loop goes on with its next step.',
}

/** The last word of a new context that ends with restored files: what the person wanted, in their own words. */
export function latestRequestText(request: string): string {
  return `The latest request of the user, word for word:\n${request}`
}
