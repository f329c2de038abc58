// Claims that the user approved, allowed or decided something. Each needs its own ground: a message of the user that names
// it, or a reply to a question that names it. One "ok" somewhere proves nothing else.
import type { Exchange } from '../../ledger/facts.ts'
import { contentWords } from './plain-words.ts'

export const noApproval = '(no such approval on record)'

const approved = String.raw`approved|consented|agreed|confirmed|authori[sz]ed|allowed|permitted|signed off|green-?lit|ok(?:ay)?['’]?e?d|gave (?:\w+ ){0,2}(?:permission|approval|consent|go-ahead|green light)|accepted`
/** What was approved stands behind the claim, in the passive before it. */
const claim = new RegExp(
  String.raw`\b(?:user|human)\b[^.!?\n]{0,40}?\b(?:${approved})\b|\b(?:approved|confirmed|authori[sz]ed|allowed|signed off(?: on)?|accepted) (by the (?:user|human))\b|\bwith the (?:user|human)['’]s (?:approval|permission|consent|blessing)\b`,
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
  let grounds: readonly Ground[] | undefined
  const lines = text.split('\n').map((line) => {
    if (line.length > longestLine || !/user|human/i.test(line) || !claim.test(line)) return line
    // The blanks between sentences are parts too, so that joining gives them back.
    const checked = line.split(/(?<=[.!?])(\s+)/).map((sentence) => {
      const found = claim.exec(sentence)
      if (!found || denied.test(sentence)) return sentence
      grounds ??= groundsIn(exchanges)
      const behind = found[1] === undefined ? sentence.slice(found.index + found[0].length) : ''
      const what = contentWords(behind).length > 0 ? behind : sentence.slice(0, found.index)
      if (isGrounded(what, grounds)) return sentence
      unsupported.push(sentence.trim().slice(0, 300))
      return `${sentence} ${noApproval}`
    })
    return checked.join('')
  })
  return { text: lines.join('\n'), unsupported, harmful: unsupported.filter((sentence) => destructive.test(sentence)) }
}

const refusal = /^\W*(?:no|nope|don'?t|do not|stop|never|wait|cancel|nein|non)\b/i

type Ground = {
  readonly words: ReadonlySet<string>
  readonly isConsent: boolean
  /** It speaks of something that could do harm. */
  readonly isHarmful: boolean
}

/** What each message of the user names, together with what it replies to where it does not refuse it. */
function groundsIn(exchanges: readonly Exchange[]): readonly Ground[] {
  return exchanges.flatMap(({ kind, text, about = '' }, at) => {
    if (kind === 'task') return []
    const isReply = kind !== 'rejection' && !refusal.test(text)
    // A short reply without a question takes up what the agent reported before it.
    const before = isReply && text.length <= 80 ? (exchanges[at - 1]?.report ?? '') : ''
    const plan = kind === 'approval' ? 'plan' : ''
    const named = isReply ? `${plan} ${text} ${about} ${before}` : text
    const isConsent = isReply && (kind === 'approval' || consent.test(text))
    return [{ words: new Set(contentWords(named)), isConsent, isHarmful: destructive.test(named) }]
  })
}

const mostWords = 6
/** Words that name nothing: whoever asked for a plan has not approved it. */
const vague = new Set(contentWords('plan proposal approach change changes solution suggestion design'))
const consent =
  /^\W*(?:y|yes|yep|yeah|ok|okay|sure|go|do it|do that|let'?s|please do|proceed|continue|approved?|agreed?|accept|lgtm|looks? good|sounds? good|good|great|perfect|fine|correct|right|exactly|ship it|merge it|ja|oui|sí|si)\b|\b(?:approve|agree|go ahead)\b|^\W*(?:好|是|可以|はい|👍)/iu

/**
 * Half of the first words that say what was approved must come from one message: one that agrees, where they name nothing,
 * and one that speaks of harm, where they do.
 */
function isGrounded(what: string, grounds: readonly Ground[]): boolean {
  const told = contentWords(what).slice(0, mostWords)
  const isVague = told.every((word) => vague.has(word))
  const isHarmful = destructive.test(what)
  return grounds.some(
    (ground) =>
      (ground.isConsent || !isVague) &&
      (ground.isHarmful || !isHarmful) &&
      told.filter((word) => ground.words.has(word)).length * 2 >= told.length,
  )
}
