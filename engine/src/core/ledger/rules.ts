// Sentences in which a user says how to work from now on. They are kept verbatim, however old they are; a rule that is
// missed here lives only as long as the message it is in.

/** A longer message is mostly pasted; its first part is what the user says about it. */
const longestSaid = 12_000

/** Orders, not reports. */
const orders: readonly RegExp[] = [
  // Without exception.
  /\b(?:never|always)\b/i,
  // Duty.
  /\b(?:must|mustn'?t|shall|have to|has to|needs? to be)\b/i,
  /\b(?:should(?:n'?t| not| never| always| only)|you should)\b/i,
  // "Don't touch it", but not "I don't know".
  /(?:^|[,;:(—–-]\s*|\b(?:please|and|but|so|then|just|also|we|again|pls)\s+)(?:do not|don'?t|dont)\b(?!\s+(?:know|think|see|understand|get|care|mind|remember|like|want to know|worry|have|believe|need|really|seem|work|exist)\b)/i,
  // Care, and orders that hold for good.
  /\b(?:make sure|be sure to|ensure|remember to|take care (?:to|that)|keep in mind|stick (?:to|with)|from now on|under no circumstances|at all times|no matter what|not allowed|forbidden|off.?limits)\b/i,
  // Preferences.
  /\b(?:I|we|I'?d|we'?d) (?:would )?(?:strongly )?prefer\b|^\s*(?:please )?(?:prefer|avoid|refrain|stop|keep|leave)\b/i,
  // Limits.
  /\bonly (?:use|ever|touch|change|edit|modify|commit|push|run|add|write|create|do|if|when|after|with)\b|\b(?:use|touch|change|edit|run|do|commit) only\b/i,
  /\b(?:without|instead of) (?:ever |any )?(?:using|changing|touching|asking|breaking|adding|modifying)\b/i,
  // "Ask me before you push."
  /^\W*(?:please |and |but |also |then )*(?:ask|check|run|tell|show|wait|get|let|test|verify|confirm|read|look)\b.{2,160}\bbefore (?:you|we|any|each|every|\w+ing)\b/i,
  // German, French, Spanish
  /\b(?:niemals|nie wieder|immer|darfst? (?:nicht|nie)|auf keinen Fall|achte darauf|stell(?:e)? sicher|bitte (?:kein|nicht)|musst?|sollst? (?:nicht|nie)|nur noch)\b/i,
  /\b(?:ne \w+ (?:jamais|pas|plus)|n'\w+ (?:jamais|pas)|toujours|il faut|assure[- ](?:toi|vous)|veillez? à|uniquement|évite[rz]?|interdit)(?![\p{L}])/iu,
  /(?<![\p{L}])(?:nunca|jamás|siempre|debes?|tienes que|hay que|asegúrate|asegúrese|evita|solo usa|solamente|prohibido|no (?:uses|toques|cambies|hagas|borres|añadas))(?![\p{L}])/iu,
  // Chinese, Japanese
  /不要|不能|不得|不准|禁止|必须|必須|一定要|务必|總是|总是|永远|永遠|确保|確保|只能|请勿|避免|别再/,
  /必ず|絶対に?|しないで|するな|してはいけ|てはならない|決して|常に|禁止|だけを?使/,
]

/** Questions and guesses are no rules, however many "must" they contain. */
const notAnOrder =
  /[?？]\s*$|^\s*(?:why|what|how|when|where|who|is|are|does|did|do you|can|could|would|should i|should we|i (?:think|guess|wonder|assume)|maybe|it (?:seems|looks))\b/i

/** Said to somebody, or an order from its first word. In a long message, which may be pasted, nothing else counts. */
const addressed =
  /\b(?:you|your|we|our|us|I|my|me|please|let'?s)\b|^\W*(?:never|always|don'?t|do not|make sure|ensure|only|avoid|keep|use|prefer|stop|remember|no)\b/i
const longMessage = 1_500

export function rulesIn(text: string): readonly string[] {
  const said = withoutPasted(text.slice(0, longestSaid))
  return sentencesOf(said).filter(
    (sentence) =>
      !notAnOrder.test(sentence) &&
      orders.some((order) => order.test(sentence)) &&
      (said.length <= longMessage || addressed.test(sentence)),
  )
}

/** "The staging site is at …" and "We decided to …" stay true; "Sort the orders" is done once. */
const statement = /^(?:the|this|that|these|those|it|there|we|our|my|they|i)\b/i

/** Whether a message says something that stays true after the request in it has been dealt with. */
export function saysSomethingLasting(text: string): boolean {
  if (rulesIn(text).length > 0) return true
  return sentencesOf(withoutPasted(text.slice(0, longestSaid))).some(
    (sentence) => statement.test(sentence) && sentence.split(' ').length >= 6 && !/[?？]\s*$/.test(sentence),
  )
}

/** Two spellings of one sentence have one key. */
export function sentenceKey(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Blocks that a person pasted rather than said: fenced code, quoted lines, tagged or indented stretches. */
const pasted =
  /^(?:```|~~~)[\s\S]*?(?:^(?:```|~~~)\s*$|(?![\s\S]))|^<([\w-]+)\b[^>]*>[\s\S]*?(?:^<\/\1>|<\/\1>|(?![\s\S]))|^(?: {4,}|\t|>|\|).*$/gm

export function withoutPasted(text: string): string {
  return text.replace(pasted, '\n')
}

const longestSentence = 800

/** People who type in small letters end their sentences too; "e.g." ends none. */
const sentenceEnd =
  /(?<=[.!?]["')\]]?)(?<!\b(?:e\.g|i\.e|etc|vs|cf|ca|bzw|approx|resp)\.)\s+(?=[\p{L}"'(¡¿])|(?<=[。！？])/u

/** A long line that goes on in lower case was wrapped by an editor. */
const wrap = /^(.{59,}[^.!?:;\s])[ \t]*\n(?=[a-z(])/gm

/** Sentences and list items as they stand, marks of lists removed. Those too long to be one are left out. */
export function sentencesOf(text: string): readonly string[] {
  const lines = text.replace(wrap, '$1 ').split('\n')
  return lines
    .flatMap((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)]|#+)\s+/, '').split(sentenceEnd))
    .map((sentence) => sentence.trim())
    .filter(({ length }) => length >= 4 && length <= longestSentence)
}
