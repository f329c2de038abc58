// Claims that the user approved, allowed or decided something. Each needs its own ground: a message of the user that names
// it, or a reply to a question that names it. One "ok" somewhere proves nothing else.
import type { Exchange } from '../../ledger/facts.ts'
import { contentWords } from './plain-words.ts'

export const noApproval = '(no such approval on record)'

const approved = String.raw`approved|consented|agreed|confirmed|authori[sz]ed|allowed|permitted|signed off|green-?lit|ok(?:ay)?['’]?e?d|gave (?:\w+ ){0,2}(?:permission|approval|consent|go-ahead|green light)|accepted`
const claim = new RegExp(
  String.raw`\b(?:user|human)\b[^.!?\n]{0,40}?\b(?:${approved})\b(.*)|(.*)\b(?:approved|confirmed|authori[sz]ed|allowed|signed off(?: on)?|accepted) by the (?:user|human)\b|\bwith the (?:user|human)['’]s (?:approval|permission|consent|blessing)\b(.*)`,
  'i',
)
/** What was asked of the user, or ruled out, is no claim that it was given. */
const denied =
  /\b(?:not|never|no|n['’]t|without|until|unless|before|if|once|awaiting|pending|whether|when|asks?|asking|needs?|must|should|wait(?:ing)? for)\b/i
const destructive =
  /\b(?:delet|remov|drop|destroy|wip|eras|overwrit|force|reset|push|deploy|publish|releas|merg|rollback|revert|purchas|pay|spend|buy|transfer|migrat)\w*/i

/** A longer line is not prose. */
const longestLine = 4_000

export type ApprovalCheck = {
  readonly text: string
  readonly unsupported: readonly string[]
  /** Those among them that could do harm. */
  readonly harmful: readonly string[]
}

export function annotateApprovals(text: string, exchanges: readonly Exchange[]): ApprovalCheck {
  const unsupported: string[] = []
  let grounds: readonly ReadonlySet<string>[] | undefined
  const lines = text.split('\n').map((line) => {
    if (line.length > longestLine || !/user|human/i.test(line) || !claim.test(line)) return line
    const sentences = line.split(/(?<=[.!?])\s+/)
    const checked = sentences.map((sentence) => {
      const found = claim.exec(sentence)
      if (!found || denied.test(sentence)) return sentence
      grounds ??= groundsIn(exchanges)
      const what = found[1] || found[2] || found[3] || sentence
      if (isGrounded(contentWords(what), grounds)) return sentence
      unsupported.push(sentence.trim().slice(0, 300))
      return `${sentence} ${noApproval}`
    })
    return checked.join(' ')
  })
  return { text: lines.join('\n'), unsupported, harmful: unsupported.filter((sentence) => destructive.test(sentence)) }
}

const refusal = /^\W*(?:no|nope|don'?t|do not|stop|never|wait|cancel|nein|non)\b/i

/** What each message of the user names, together with what it replies to where it does not refuse it. */
function groundsIn(exchanges: readonly Exchange[]): readonly ReadonlySet<string>[] {
  return exchanges
    .filter(({ kind }) => kind !== 'task')
    .map(({ kind, text, about = '' }, at) => {
      const isReply = kind !== 'rejection' && !refusal.test(text)
      // A short reply without a question takes up what the agent reported before it.
      const before = isReply && text.length <= 80 ? (exchanges[at - 1]?.report ?? '') : ''
      return new Set(contentWords(isReply ? `${text} ${about} ${before}` : text))
    })
}

const mostWords = 6

/** Half of the first words that say what was approved must come from one message. */
function isGrounded(words: readonly string[], grounds: readonly ReadonlySet<string>[]): boolean {
  const told = words.slice(0, mostWords)
  if (told.length === 0) return grounds.length > 0
  return grounds.some((ground) => told.filter((word) => ground.has(word)).length * 2 >= told.length)
}
