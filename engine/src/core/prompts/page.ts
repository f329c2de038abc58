// The headings and fixed lines that code writes into a summary. Foreign text cannot imitate them: see text/neutralize.ts.

export const pageTitles = {
  words: 'What the user said, verbatim',
  earlier: 'What the user said earlier, verbatim',
  rules: 'Further rules of the user, verbatim',
  state: 'Current state',
  doubts: 'Names in the summary that the conversation does not contain',
  record: 'The record, written by code',
  before: 'From the summary before this one, outdated wherever the entries below contradict it',
  since: 'Since that summary, oldest first',
  conversation: 'The conversation, oldest first',
  errors: 'Errors',
} as const

/** The start of every page that code wrote without a model, in all versions. */
export const writtenByCodeStart = 'Written by code from the conversation, without a model'

export const writtenByCode = `${writtenByCodeStart}, oldest first. If two statements contradict each other, believe the lower one. The user’s words are verbatim. The agent’s are from its reports: take them as claims unless a check confirms them.`

/** The first sentence of the record next to a summary. */
export const recordLead =
  'Details that the summary leaves out, as they were said at the time, oldest first. If an entry contradicts the summary, believe the summary; if two entries contradict each other, believe the lower one.'

export const cautionLine =
  'Caution: the summary claims approvals that the user’s messages do not show. Ask before acting on them:'

/** Comes before the rules of the user, for an agent whose own summary is not known yet. */
export const standingRulesLead = 'What the user asked for once and for all in this session, word for word:'

/** Lines before lists of claims in a summary that the conversation does not support. */
export const doubtLeads = {
  quotes: 'Quoted in the summary, and not found in the user’s messages:',
  approvals: 'Claimed in the summary, with no such approval on record:',
  state: 'Claimed in the summary, and not so when it was last seen:',
} as const

export const unverifiedStart = 'Unverified (not found in the conversation):'

/** The author of the summary has not seen the latest request. It follows the summary, or ends the context. */
export type Unseen = 'follows' | 'ends'

/** The last line of the section on the next step, because the section names an older request as the latest. */
export const newerRequestLine: Readonly<Record<Unseen, string>> = {
  follows: '(Written before the user’s latest message, which follows this summary and comes first where they differ.)',
  ends: '(Written before the user’s latest message, which is at the end and comes first where they differ.)',
}

export const shortenedNote = '(This summary was shortened by code to fit; details were left out.)'

/** Follows an item whose details were left out. */
export const leftOut = '(details left out)'
