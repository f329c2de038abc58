// Sentences to be carried word for word: the rules a person gave, and decisions with what they were taken against.
// Rules come from what a person typed and from nothing else; what was pasted into it does not count.
import { sentencesOf, withoutPasted } from './text.ts'

/** A message longer than this is mostly pasted; its first part is what the person says about it. */
const longestSaid = 12_000

/** Order, not report: "don't" opens the sentence or follows a joint; "I don't know" does neither. */
const orders: readonly RegExp[] = [
  /\b(?:never|always)\b/i,
  /\b(?:must|mustn'?t|shall|have to|has to|needs? to be)\b/i,
  /\b(?:should(?:n'?t| not| never| always| only)|you should)\b/i,
  /(?:^|[,;:(—–-]\s*|\b(?:please|and|but|so|then|just|also|we|again|pls)\s+)(?:do not|don'?t|dont)\b(?!\s+(?:know|think|see|understand|get|care|mind|remember|like|want to know|worry|have|believe|need|really|seem|work|exist)\b)/i,
  /\b(?:make sure|be sure to|ensure that|ensure|remember to|take care (?:to|that)|keep in mind|stick (?:to|with)|from now on|under no circumstances|at all times|no matter what|not allowed|forbidden|off.?limits)\b/i,
  /\b(?:I|we|I'?d|we'?d) (?:would )?(?:strongly )?prefer\b|^\s*(?:please )?(?:prefer|avoid|refrain|stop|keep|leave)\b/i,
  /\bonly (?:use|ever|touch|change|edit|modify|commit|push|run|add|write|create|do|if|when|after|with)\b|\b(?:use|touch|change|edit|run|do|commit) only\b/i,
  /\b(?:without|instead of) (?:ever |any )?(?:using|changing|touching|asking|breaking|adding|modifying)\b/i,
  /^\W*(?:please |and |but |also |then )*(?:ask|check|run|tell|show|wait|get|let|test|verify|confirm|read|look)\b.{2,160}\bbefore (?:you|we|any|each|every|\w+ing)\b/i,
  // German, French, Spanish
  /\b(?:niemals|nie wieder|immer|darfst? (?:nicht|nie)|auf keinen Fall|achte darauf|stell(?:e)? sicher|bitte (?:kein|nicht)|musst?|sollst? (?:nicht|nie)|nur noch)\b/i,
  /\b(?:ne \w+ (?:jamais|pas|plus)|n'\w+ (?:jamais|pas)|toujours|il faut|assure[- ](?:toi|vous)|veillez? à|uniquement|évite[rz]?|interdit)(?![\p{L}])/iu,
  /(?<![\p{L}])(?:nunca|jamás|siempre|debes?|tienes que|hay que|asegúrate|asegúrese|evita|solo usa|solamente|prohibido|no (?:uses|toques|cambies|hagas|borres|añadas))(?![\p{L}])/iu,
  // Chinese, Japanese
  /不要|不能|不得|不准|禁止|必须|必須|一定要|务必|總是|总是|永远|永遠|确保|確保|只能|请勿|避免|别再/,
  /必ず|絶対に?|しないで|するな|してはいけ|てはならない|決して|常に|禁止|だけを?使/,
]

/** Questions and guesses are no rules, however many "must" they hold. */
const notAnOrder =
  /[?？]\s*$|^\s*(?:why|what|how|when|where|who|is|are|does|did|do you|can|could|would|should i|should we|i (?:think|guess|wonder|assume)|maybe|it (?:seems|looks))\b/i

/** Said to somebody, or an order from its first word. In a long message, which may be a pasted page, only such count. */
const addressed =
  /\b(?:you|your|we|our|us|I|my|me|please|let'?s)\b|^\W*(?:never|always|don'?t|do not|make sure|ensure|only|avoid|keep|use|prefer|stop|remember|no)\b/i
const longMessage = 1500

export function constraintsIn(text: string): readonly string[] {
  const said = spoken(text)
  const isRule = (sentence: string) =>
    !notAnOrder.test(sentence) &&
    orders.some((order) => order.test(sentence)) &&
    (said.length <= longMessage || addressed.test(sentence))
  return sentencesOf(said).filter(isRule)
}

/** What the person says: the words behind a slash command are theirs, what stands in other tags or fences is not. */
function spoken(text: string): string {
  const start = text.slice(0, longestSaid)
  const args = [...start.matchAll(/<command-args>([\s\S]*?)<\/command-args>/g)].map(([, words]) => words)
  return [withoutPasted(start), ...args].join('\n')
}

const choices =
  /\b(?:instead of|rather than|as opposed to|in favou?r of|let'?s (?:go|stick|proceed) with|(?:I|we)(?:'ll| will|'ve| have)? (?:chose|choose|chosen|decided?|picked|opted|settled|rejected|ruled out|dropped|reverted)\b|decided (?:to|against|on)|decision:|trade-?off|won'?t work because|does(?:n't| not) work because|(?:the|its) (?:root )?(?:cause|reason|problem|issue|culprit)(?: (?:of|for|with|behind|in|why|to)\b[^.:;]{0,80}?)? (?:is|was|were|lies)\b|turns out)|statt(?:dessen)?\b|plutôt que|au lieu de|en lugar de|而不是|代わりに/i

/** What one is about to do is no decision yet. */
const plans =
  /^\W*(?:now,? |next,? |first,? |ok(?:ay)?,? |good,? |and )?(?:let me|I'll|I should|I need|I want|let'?s (?:check|see|look|find|verify)|I'm going to)\b/i

export function decisionsIn(text: string): readonly string[] {
  const start = text.slice(0, longestSaid)
  // Most texts decide nothing, and need not be taken apart. Lines may be joined by then, so their ends count as spaces.
  if (!choices.test(start.replaceAll('\n', ' '))) return []
  return sentencesOf(withoutPasted(start)).filter(
    (sentence) =>
      sentence.length >= 32 && choices.test(sentence) && !/[?？:]\s*$/.test(sentence) && !plans.test(sentence),
  )
}

/** A sentence that says what a web address is. */
const address = /\b(?:is|are|at|under)\b[^.]{0,24}\bhttps?:\/\/\w/i

/** What a person tells for good: their decisions, and where things are. */
export function tellingsIn(text: string): readonly string[] {
  const addresses = sentencesOf(withoutPasted(text.slice(0, longestSaid))).filter(
    (sentence) => address.test(sentence) && !/[?？]\s*$/.test(sentence),
  )
  return [...decisionsIn(text), ...addresses]
}

/** Two ways to write the same sentence have one key. */
export function sayingKey(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
