// How an exchange reads in a context: the user's words in quotes, what they reply to, and what the agent reported.
import type { Exchange } from '../../ledger/facts.ts'
import { interrupted } from '../../ledger/steps.ts'
import { recallPointer } from '../../prompts/recall.ts'
import { condensed } from '../../text/condense.ts'
import { neutralize } from '../../text/neutralize.ts'

export type WordsOptions = {
  /** The agent has the recall tool. */
  readonly recall: boolean
  /** Characters of the words; a longer text keeps its beginning and its end. */
  readonly most?: number
}

/** The user's words, verbatim, with what they are about. Several lines stand between tags. */
export function wordsText(exchange: Exchange, { recall, most = Number.POSITIVE_INFINITY }: WordsOptions): string {
  const { text, uuid } = exchange
  const shown = neutralize(condensed(text, most))
  const isPart = shown.includes('[pasted ') || shown.includes('[…]')
  const whole = isPart && uuid !== undefined && recall ? ` (in full: ${recallPointer(uuid)})` : ''
  return [leadOf(exchange), `${quoted(shown)}${whole}`].filter((part) => part !== '').join(' ')
}

function quoted(text: string): string {
  if (text === '') return ''
  return text.includes('\n') ? `\n<user-message>\n${text}\n</user-message>` : `"${text}"`
}

const longestAbout = 800

/** How it was said, and what it is about. */
export function leadOf({ kind, about }: Exchange): string {
  const what = about === undefined ? '' : neutralize(condensed(about, longestAbout)).replace(/\s*\n\s*/g, ' ')
  switch (kind) {
    case 'rejection':
      return what === '' ? '(rejecting a tool call)' : `(rejecting the call ${what})`
    case 'approval':
      return what === '' ? '(approved the plan)' : `(approved the plan: ${what})`
    case 'answer':
      return what === '' ? '(answering a question)' : `(asked: ${what})`
    case 'queued':
      return what === '' ? '(while the agent was working)' : `(while the agent was working, in reply to: ${what})`
    case 'task':
      return '(from the agent that started this one)'
    case 'message':
      return what === '' ? '' : `(in reply to: ${what})`
  }
}

/** The agent said or did something about it. */
export function isBegun({ report, steps = [], done }: Exchange): boolean {
  return report !== undefined || done !== undefined || steps.some(({ text }) => text !== interrupted)
}
