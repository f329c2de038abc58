// The text around a summary in the new context: where it comes from, where the rest is, whether to continue, and the
// user's latest request. The summary itself is passed in and never changed.

export type ContinuationInput = {
  readonly summary: string
  /**
   * manual adds nothing, because the user decides what comes next. auto continues the task. autonomous also says that this is not
   * a first start.
   */
  readonly mode: 'manual' | 'auto' | 'autonomous'
  /** The path of the full transcript, for agents that can read it. */
  readonly transcriptPath?: string | undefined
  readonly recall?: boolean | undefined
  /** Whether verbatim messages follow the summary or precede it. */
  readonly kept?: 'after' | 'before' | undefined
  /** The last words, if nothing else follows. */
  readonly end?: string | undefined
  /** There is hardly room for the summary itself. */
  readonly isShort?: boolean | undefined
}

export function continuationText(input: ContinuationInput): string {
  const { summary, end = '', isShort } = input
  const parts = isShort
    ? [summary, end]
    : [opening(input), `${summaryLead}${summary}`, whereTheRestIs(input), goOn[input.mode], end]
  return parts.filter((part) => part !== '').join('\n\n')
}

const begins = 'This conversation continues from an earlier one whose context ran out.'
const goesOn = 'What followed the messages above no longer fitted in the context.'
const summaryLead = 'Summary:\n'
const restLead = 'Nothing is lost: for exact code, outputs or wording from before, '
const requestLead = 'The user’s latest request, verbatim ('

/** True if the text is one of these, for messages without a record of who wrote them. */
export function isContinuation(text: string): boolean {
  return text.startsWith(begins) || text.startsWith(goesOn)
}

export type ReadContinuation = {
  readonly summary: string
  /** The user's latest request, if the text ends with it. */
  readonly request?: string
}

/** The inverse of `continuationText`; undefined for any other text. */
export function readContinuation(text: string): ReadContinuation | undefined {
  const start = text.indexOf(`\n\n${summaryLead}`)
  if (!isContinuation(text) || start < 0) return undefined
  const rest = text.slice(start + summaryLead.length + 2)
  const request = rest.lastIndexOf(`\n\n${requestLead}`)
  const ends = [request, ...[restLead, directly].map((lead) => rest.lastIndexOf(`\n\n${lead}`))]
  const summary = rest.slice(0, Math.min(rest.length, ...ends.filter((end) => end >= 0)))
  const words = request < 0 ? '' : rest.slice(rest.indexOf(':\n', request) + 2)
  return words === '' ? { summary } : { summary, request: words }
}

function opening({ kept }: ContinuationInput): string {
  if (kept === 'before') return `${goesOn} This summary replaces it:`
  const start = `${begins} The summary below covers the earlier part.`
  return kept === 'after' ? `${start} The newest messages follow it verbatim.` : start
}

function whereTheRestIs({ transcriptPath, recall }: ContinuationInput): string {
  const ways = [
    ...(recall ? ['search it with the recall tool ("query" finds, "read" with an id gives the exact text)'] : []),
    ...(transcriptPath === undefined ? [] : [`read the transcript at ${transcriptPath}`]),
  ]
  if (ways.length === 0) return ''
  return `${restLead}${ways.join(', or ')}.`
}

const directly =
  'Continue directly with the last task, as if there had been no break, without asking the user any further questions (unless a caution here tells you to ask). Do not greet, do not recap, and do not acknowledge this summary or say that you are continuing.'

const goOn: Readonly<Record<ContinuationInput['mode'], string>> = {
  manual: '',
  auto: directly,
  autonomous: `${directly} You work autonomously and this is not a first start: continue the work loop with its next step.`,
}

/** How far the agent has come with the latest request. */
export type Progress = 'new' | 'begun' | 'answered'

const progressWords: Readonly<Record<Progress, string>> = {
  new: 'nothing was done about it yet',
  begun: 'the agent was working on it',
  answered: 'the agent has answered it, and nothing was asked since',
}

/** The last words of a new context: what the user wants, in their own words. */
export function latestRequestText(request: string, progress: Progress): string {
  return `${requestLead}${progressWords[progress]}):\n${request}`
}
