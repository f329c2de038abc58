// Claims of a summary that code can check: quotations of the user, approvals, and states. A claim that does not hold up is
// marked and never removed: the summary may be right in substance.
import type { CommandFact, Exchange, Ledger, Todo } from '../../ledger/facts.ts'
import { contentWords, holdsWords, plainWords } from '../../text/plain-words.ts'
import { failedActionIn, latestActions } from './action-claims.ts'

/** The text with its marks, and the marked claims. */
export type Annotated = { readonly text: string; readonly found: readonly string[] }

/** A longer line is data, and stays as it is. */
const maxLine = 4_000

function annotated(text: string, mark: (line: string, found: string[]) => string): Annotated {
  const found: string[] = []
  const lines = text.split('\n').map((line) => (line.length > maxLine ? line : mark(line, found)))
  return { text: lines.join('\n'), found }
}

export const notFound = '(not found in the user’s messages)'

/** Before the quotation: `the user said "…"`, `per the user: "…"`, `- User: "…"`. */
const toTheUser =
  /\b(?:user|human)(?:['’]s)?\b[^"“”\n]{0,80}\b(?:said|says|asked|asks|wrote|writes|typed|stated|requested|replied|answered|confirmed|approved|agreed|told|insisted|noted|mentioned|explained|reported|responded|clarified|corrected|wants?|wanted|words?|message|request|feedback|quote|instruction|correction|question)\b|\b(?:user|human)(?:['’]s)?(?: \w+){0,3}:|^[-*\d.)\s]*(?:user|human)\b|\b(?:said|asked|requested|stated|quoted|told|per) (?:by )?the (?:user|human)\b/i
/** After it: `"…", the user wrote`. */
const afterQuote = /^[^.!?\n]{0,20}\b(?:the )?(?:user|human) (?:said|wrote|asked|typed|replied|answered)\b/i
/** Somebody else's words: `the user pasted the error "…"`. */
const toAnother =
  /\b(?:assistant|agent|reviewer|bot|copilot|tool|output|error|log|comment|docs?|documentation|readme|file|test|hook|commit|skill|rule|title)\b[^"“”\n]{0,40}$/i

/**
 * `"Use tabs"`, `“Use tabs”`, `'Use tabs'`, "`Use tabs`" and `*Use tabs*`; bounded, since the text is a model's. Short ones are matched
 * too, so that the end of one is never taken for the start of the next.
 */
const quotation =
  /"([^"\n]{1,600})"|“([^”\n]{1,600})”|(?<![\p{L}\p{N}])'([^'\n]{8,600})'(?![\p{L}\p{N}])|`([^`\n]{1,600})`|(?<![*\p{L}\p{N}])\*([^*\n]{8,600})\*(?!\*)/gu

/**
 * `The user said "Always use tabs".` → `The user said "Always use tabs" (not found in the user’s messages).` if nobody did. `isSaid` is asked only for
 * quotations that the sentence attributes to the user.
 */
export function annotateQuotes(text: string, isSaid: (quote: string) => boolean): Annotated {
  return annotated(text, (line, found) => {
    if (!/user|human/i.test(line)) return line
    return line.replace(quotation, (whole: string, ...rest: unknown[]) => {
      const quote = rest.find((group) => typeof group === 'string') as string
      const at = rest.find((value) => typeof value === 'number') ?? 0
      if (!isSentence(quote) || !isAttributed(line, { at, end: at + whole.length }) || isSaid(quote)) return whole
      found.push(quote)
      return `${whole} ${notFound}`
    })
  })
}

/** "Yes", "Sounds good", "I agree", "好" */
const consent =
  /^\W*(?:y|yes|yep|yeah|ok|okay|sure|go|do it|do that|let'?s|please do|proceed|continue|approved?|agreed?|accept|lgtm|looks? good|sounds? good|good|great|perfect|fine|correct|right|exactly|ship it|merge it|ja|oui|sí|si)\b|\b(?:approve|agree|go ahead)\b|^\W*(?:好|是|可以|はい|👍)/iu

export function isConsent(text: string): boolean {
  return consent.test(text)
}

/** `the user asked for "dark mode"` is mostly a name; three words or a consent ("yes") are a quotation. */
function isSentence(quote: string): boolean {
  return isConsent(quote) || quote.split(/\s+/).length >= 3 || /[\u3040-\u30ff\u4e00-\u9fff]{4}/.test(quote)
}

/** Characters before a quotation, in the same sentence, that may say whose words it is. */
const maxLead = 400

function isAttributed(line: string, { at, end }: { readonly at: number; readonly end: number }): boolean {
  const before = line.slice(Math.max(0, at - maxLead), at)
  const sentence = before.slice(Math.max(...['.', '!', '?'].map((mark) => before.lastIndexOf(mark))) + 1)
  if (toAnother.test(sentence)) return false
  return toTheUser.test(sentence) || afterQuote.test(line.slice(end, end + 60))
}

/** "fix it … and push" is found if both parts are. */
export function isQuotedFrom(quote: string, texts: Iterable<string>): boolean {
  const parts = quote
    .split(/…|\.\.\.|\[[^\]]{0,80}\]/)
    .map(plainWords)
    .filter((part) => part.trim() !== '')
  if (parts.length === 0) return true
  const missing = new Set(parts)
  for (const text of texts) {
    for (const part of missing) if (holdsWords(text, part)) missing.delete(part)
    if (missing.size === 0) return true
  }
  return false
}

export const noApproval = '(no such approval on record)'

const approved = String.raw`approved|consented|agreed|confirmed|authori[sz]ed|allowed|permitted|signed off|green-?lit|ok(?:ay)?['’]?e?d|gave (?:\w+ ){0,2}(?:permission|approval|consent|go-ahead|green light)|accepted`
/** "The user approved the plan": the object follows the claim. "The plan was approved by the user": it precedes it. */
const claim = new RegExp(
  String.raw`\b(?:user|human)\b[^.!?\n]{0,40}?\b(?:${approved})\b|\b(?:approved|confirmed|authori[sz]ed|allowed|signed off(?: on)?|accepted) (by the (?:user|human))\b|\bwith the (?:user|human)['’]s (?:approval|permission|consent|blessing)\b`,
  'i',
)
/** No claim: "needs to be approved by the user", "the user has not approved it", "if the user agrees". */
const denied =
  /\b(?:not|never|no|n['’]t|without|until|unless|before|if|once|awaiting|pending|whether|when|asks?|asking|needs?|must|should|wait(?:ing)? for)\b/i
/** "deleted the table", "force push", "released it" */
const destructive =
  /\b(?:delet|remov|drop|destroy|wip|eras|overwrit|force|reset|push|deploy|publish|releas|merg|rollback|revert|purchas|pay|spend|buy|transfer|migrat)\w*/i

/**
 * A claim that the user approved something needs its own ground: a message of the user that names it, or a reply to a
 * question that names it. One "ok" somewhere proves nothing else. "The user approved the release." → "The user approved the release. (no such
 * approval on record)", unless there is "Release it" or a "yes" to "Shall I release it?".
 */
export function annotateApprovals(text: string, exchanges: readonly Exchange[]): Annotated {
  let grounds: readonly Ground[] | undefined
  return annotated(text, (line, unsupported) => {
    if (!/user|human/i.test(line) || !claim.test(line)) return line
    // The capture keeps the blanks between sentences, so that joining restores the line.
    const checked = line.split(/(?<=[.!?])(\s+)/).map((sentence) => {
      const found = claim.exec(sentence)
      if (!found || denied.test(sentence)) return sentence
      grounds ??= groundsIn(exchanges)
      const after = found[1] === undefined ? sentence.slice(found.index + found[0].length) : ''
      const what = contentWords(after).length > 0 ? after : sentence.slice(0, found.index)
      if (isGrounded(what, grounds)) return sentence
      unsupported.push(sentence.trim().slice(0, 300))
      return `${sentence} ${noApproval}`
    })
    return checked.join('')
  })
}

/** It is about something that cannot be undone: deleting, pushing, publishing, spending. */
export function isHarmful(claim: string): boolean {
  return destructive.test(claim)
}

/** "No, leave it.", "Don't.", "Wait" */
const refusal = /^\W*(?:no|nope|don'?t|do not|stop|never|wait|cancel|nein|non)\b/i

/** From here to the end of a part of a sentence, something is forbidden or bound to a condition. */
const forbidding =
  /\b(?:never|not|dont|no(?! (?:problem|objections?|worries|need))|cannot|avoid|stop|until|unless|before|ask(?: me)?|nicht|niemals|kein\w*|jamais|nunca)\b|n['’]t\b/i

/** "Delete the logs, but never drop the table." → "Delete the logs, ": what is forbidden supports no approval. */
function permittedIn(text: string): string {
  const parts = text.split(/(?<=[.!?])\s+|\n+|;|\b(?:but|instead)\b/i)
  return parts.map((part) => part.split(forbidding, 1)[0]).join(' ')
}

type Ground = {
  readonly words: ReadonlySet<string>
  readonly agrees: boolean
  /** It names something irreversible. */
  readonly mayHarm: boolean
}

/** The words of each message of the user, together with those of the question or report that it agrees with. */
function groundsIn(exchanges: readonly Exchange[]): readonly Ground[] {
  return exchanges.flatMap(({ kind, text, about = '' }, at) => {
    if (kind === 'task') return []
    const isAllowed = isConsent(text) || !forbidding.test(text)
    const isReply = kind !== 'rejection' && !refusal.test(text) && isAllowed
    // "Yes, do that." agrees with what the agent reported before it.
    const before = isReply && text.length <= 80 ? (exchanges[at - 1]?.report ?? '') : ''
    const plan = kind === 'approval' ? 'plan' : ''
    const said = permittedIn(text)
    const named = isReply ? `${plan} ${said} ${about} ${before}` : said
    const agrees = isReply && (kind === 'approval' || isConsent(text))
    return [{ words: new Set(contentWords(named)), agrees, mayHarm: isHarmful(named) }]
  })
}

const maxWords = 6
/** Words that name nothing: "Make a plan" does not approve the plan. */
const vague = new Set(contentWords('plan proposal approach change changes solution suggestion design'))
/**
 * A claim is grounded if one message has half of the first words that name the approved thing. If the words are vague, the
 * message must be a consent. If they name something irreversible, the message must name such a thing too. "Paint the gate
 * green" grounds "painting the gate", but not "deleting the gate", nor "the plan".
 */
function isGrounded(what: string, grounds: readonly Ground[]): boolean {
  const words = contentWords(what).slice(0, maxWords)
  const isVague = words.every((word) => vague.has(word))
  const mayHarm = isHarmful(what)
  return grounds.some(
    (ground) =>
      (ground.agrees || !isVague) &&
      (ground.mayHarm || !mayHarm) &&
      words.filter((word) => ground.words.has(word)).length * 2 >= words.length,
  )
}

/** "- `npm test` passes" → "- `npm test` passes (last seen: failed, "3 failed")". */
export function annotateStateClaims(text: string, ledger: Ledger): Annotated {
  const actions = latestActions(ledger.commands)
  return annotated(text, (line, contradicted) => {
    const seen = lastSeen(line, ledger)
    const marked = (text: string, fact: string) => {
      contradicted.push(text.trim().slice(0, 200))
      return `${text} (last seen: ${fact})`
    }
    if (seen !== undefined) return marked(line, seen)
    const sentences = line.split(/(?<=[.!?])(\s+)/).map((sentence) => {
      const failed = failedActionIn(sentence, { actions, exchanges: ledger.exchanges })
      return failed === undefined ? sentence : marked(sentence, failed)
    })
    return sentences.join('')
  })
}

/** Finds the fact for a line by a command in backticks, a commit's hash or the words of a todo. */
function lastSeen(line: string, { commands, commits, repository, todos }: Ledger): string | undefined {
  const command = commands.find(({ text, ended }) => ended !== 'unfinished' && line.includes(`\`${text}\``))
  const [commit, ...others] = commits.filter(({ hash }) => line.includes(hash.slice(0, 7)))
  const todo = todos.find(({ text }) => text.length >= 12 && line.includes(text))
  return (
    (command && commandSeen(line, command)) ??
    (commit && others.length === 0 ? pushSeen(line, commit.last <= repository.pushedLast) : undefined) ??
    (todo && todoSeen(line, todo))
  )
}

/** "passes", "is green"; "fails", "is broken"; "not yet pushed"; "does not pass", "failed first, passes now" */
const passes = /\b(?:pass(?:es|ed|ing)?|succe\w+|green|clean|ok)\b/i
const fails = /\b(?:fail(?:s|ed|ing)?|broken|red)\b/i
const notPushed = /\b(?:not (?:yet )?(?:been )?pushed|unpushed)\b/i
const negated = /\b(?:not|no|never|n['’]t|0|zero|until|before|previously|first|then|earlier|was|were)\b/i

/** "1a2b3c4 is not yet pushed" → pushed; "1a2b3c4 was pushed" → no push after this commit. */
function pushSeen(line: string, isPushed: boolean): string | undefined {
  if (isPushed) return notPushed.test(line) ? 'pushed' : undefined
  // "It was pushed" is a claim, although "was" mostly speaks of the past.
  const claimed = line.replace(/\b(?:was|were) (?=pushed\b)/gi, '')
  return /\bpushed\b/i.test(line) && !negated.test(claimed) ? 'no push after this commit' : undefined
}

/** Only for a line that makes one statement: not "passes, but lint fails", not "failed before, passes now". */
function commandSeen(line: string, { ended, outcome }: CommandFact): string | undefined {
  if (negated.test(line) || (passes.test(line) && fails.test(line))) return undefined
  const said = outcome === '' ? '' : `, "${outcome.replaceAll('"', "'")}"`
  if (ended === 'badly' && passes.test(line)) return `failed${said}`
  return ended === 'well' && fails.test(line) ? `passed${said}` : undefined
}

/** "- [ ] Paint the gate" → done; "- [x] Paint the gate" → not done, if that is its state. */
function todoSeen(line: string, { status }: Todo): string | undefined {
  const isOpen = /^\s*[-*] \[ \]|\b(?:pending|not (?:yet )?(?:done|started)|to do)\b/i.test(line)
  const isDone = /^\s*[-*] \[x\]|\b(?:done|completed|finished)\b/i.test(line) && !negated.test(line)
  if (status === 'done' && isOpen && !isDone) return 'done'
  return status === 'pending' && isDone ? 'not done' : undefined
}
