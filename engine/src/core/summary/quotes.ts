// Words put into the user's mouth: quotations that no human message holds, and approvals that nobody gave. Both are
// taken out of what a model wrote, and reported. What a tool, a file or the assistant said is never the user's word.

export type Mended = {
  readonly text: string
  /** Quotations of the user that the user never said. */
  readonly falseQuotes: readonly string[]
  /** Sentences that tell of a consent for which the user's words give no ground. */
  readonly inferredApprovals: readonly string[]
}

export type Said = {
  /** All that people typed. */
  readonly human: readonly string[]
  /** Whether a person agreed by other means than words: a plan was accepted, a question answered. */
  readonly agreed: () => boolean
}

/** "the user said", "per the user's words:", "User: …", in a heading or before the quotation. */
const toTheUser =
  /\b(?:the )?(?:user|human|person|they|customer|owner)(?:['’]s)?\b[^"“”\n]{0,80}\b(?:said|says|asked|asks|wrote|writes|typed|stated|states|requested|replied|answered|confirmed|approved|agreed|told|insisted|noted|mentioned|explained|reported|complained|responded|clarified|corrected|wants?|wanted|words?|message|request|feedback|quote|instruction|correction|question|exact)\b|\b(?:user|human)(?:['’]s)?(?: \w+){0,3}:|^\s*[-*\d.)\s]*(?:user|human)\b|\b(?:said|asked|requested|stated|quoted|told|per|by) (?:by )?(?:the )?(?:user|human)\b/i
const toAnother =
  /\b(?:assistant|agent|reviewer|bot|copilot|tool|output|error|log|comment|docs?|documentation|readme|file|test|message from|hook|commit)\b[^"“”\n]{0,40}$/i

const quotation = /"([^"\n]{2,600})"|“([^”\n]{2,600})”/g
const approving =
  /^\W*(?:y|yes|yep|yeah|yup|ok|okay|sure|go|go ahead|approved?|lgtm|do it|proceed|continue|confirmed?|agreed?|sounds good|please do|ship it|merge it)\b[\w\s,.!']{0,40}$/i

/** A quotation of the user in the place of which this stands was not the user's. */
const removedQuote = '[quotation removed: the user did not write this]'
const removedApproval = '[claim of the user’s approval removed: no such words of the user]'

/** For one text after another: what people said is looked through only where a text gives reason to, and once. */
export function createQuoteMender({ human, agreed }: Said): (text: string) => Mended {
  const small = once(() => human.join('\n').toLowerCase())
  const hasConsent = once(() => agreed() || human.some(consents) || consents(human.join('\n')))
  return (text) => mendQuotes(text, { isSaid: (quote) => isSaid(quote, small()), hasConsent })
}

function once<T>(find: () => T): () => T {
  let found: { readonly value: T } | undefined
  return () => {
    found ??= { value: find() }
    return found.value
  }
}

type Grounds = { readonly isSaid: (quote: string) => boolean; readonly hasConsent: () => boolean }

function mendQuotes(text: string, said: Grounds): Mended {
  const falseQuotes: string[] = []
  const inferredApprovals: string[] = []
  let isUserList = false
  const lines = text.split('\n').map((line) => {
    if (/\S/.test(line) && !/^\s*[-*\d"“]/.test(line)) isUserList = /\b(?:user|human)\b.*:\W*$/i.test(line)
    const mended = line.replace(quotation, (whole: string, straight?: string, curly?: string, ...rest: unknown[]) => {
      const quote = straight ?? curly ?? ''
      const at = rest.find((value) => typeof value === 'number') ?? 0
      const before = line.slice(0, at)
      if (!isSentence(quote) || !isAttributed(before, isUserList) || said.isSaid(quote)) return whole
      falseQuotes.push(quote)
      return removedQuote
    })
    return withoutApprovals(mended, said, inferredApprovals)
  })
  return { text: lines.join('\n'), falseQuotes, inferredApprovals }
}

/** One word in marks is mostly a name; a consent is a quotation however short it is. */
function isSentence(quote: string): boolean {
  return approving.test(quote) || /\p{L}\S*\s+\S*\p{L}/u.test(quote) || /[\u3040-\u30ff\u4e00-\u9fff]{4}/.test(quote)
}

function isAttributed(before: string, isUserList: boolean): boolean {
  const sentence = before.slice(Math.max(0, before.search(/[^.!?]*$/)))
  if (toAnother.test(sentence)) return false
  return toTheUser.test(sentence) || toTheUser.test(before) || (isUserList && !/\p{L}{3}/u.test(before))
}

/** Parts around an ellipsis are looked for one by one: shortening is no lie. */
function isSaid(quote: string, human: string): boolean {
  const parts = quote.split(/\s*(?:…|\.\.\.|\[[^\]]*\])\s*/).map(plain)
  const told = parts.filter((part) => part !== '')
  return told.length > 0 && told.every((part) => holds(human, part.split(' ')))
}

/** Whether these words follow one another in a text of small letters, with whatever marks between them. */
function holds(text: string, words: readonly string[]): boolean {
  if (!words.every((word) => text.includes(word))) return false
  return new RegExp(`(?<![\\p{L}\\p{N}])${words.join('[^\\p{L}\\p{N}]+')}(?![\\p{L}\\p{N}])`, 'u').test(text)
}

/** Letters and digits alone: marks, case and spacing are a writer's choice. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

const claim =
  /\b(?:user|human|they)\b[^.!?\n]{0,40}\b(?:has |have |had )?(?:approved|consented|agreed|confirmed|authori[sz]ed|signed off|gave (?:\w+ )?(?:permission|approval|consent|the go-ahead|the green light)|green-?lit|accepted (?:the|this|my|our)|ok(?:ay)?['’]?e?d)\b|\b(?:approved|confirmed|authori[sz]ed|accepted|signed off) by the (?:user|human)\b|\bwith the user['’]s (?:approval|permission|consent|blessing)\b|\buser approval (?:was )?(?:given|granted|received)\b/i
const denied =
  /\b(?:not|never|n['’]t|without|until|unless|before|if|once|awaiting|pending|whether|when|asks?|needs?|must|should)\b/i

/** Words with which people agree. Without a single one of them there is nothing an approval could rest on. */
const consent =
  /\b(?:y|yes|yep|yeah|yup|ok|okay|sure|go ahead|go for it|go with|approve[ds]?|lgtm|do it|do that|proceed|continue|confirm(?:ed)?|agreed?|sounds good|looks good|looks great|looks amazing|please do|ship it|merge it|perfect|great|good|nice|correct|right|let s|fine|exactly|works for me|start implementing|ja|oui|sí|si|gut|вперед|да)\b|是|好的|可以|はい/u

function consents(said: string): boolean {
  return consent.test(plain(said))
}

function withoutApprovals(line: string, { hasConsent }: Grounds, found: string[]): string {
  if (!claim.test(line) || hasConsent()) return line
  return line
    .split(/(?<=[.!?])\s+/)
    .map((sentence) => {
      if (!claim.test(sentence) || denied.test(sentence)) return sentence
      found.push(sentence.trim().slice(0, 300))
      return `${/^\s*(?:[-*]|\d+\.)\s+/.exec(sentence)?.[0] ?? ''}${removedApproval}`
    })
    .join(' ')
}
