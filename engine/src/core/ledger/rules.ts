// Finds the sentences in which a user says how to work from now on. They are kept verbatim at any age. A rule that is missed
// here is lost together with its message.

/** Most of a longer message is pasted text. The user's own words come first. */
const maxSaid = 12_000

/** Orders, not reports. Each group has examples of the sentences it recognizes. */
const orders: readonly RegExp[] = [
  // "Never push to main.", "Always run the tests."
  /\b(?:never|always)\b/i,
  // "It must stay.", "The tests have to pass.", "You shouldn't touch it."
  /\b(?:must|mustn'?t|shall|have to|has to|needs? to be)\b/i,
  /\b(?:should(?:n'?t| not| never| always| only)|you should)\b/i,
  // "Don't touch it", but not "I don't know".
  /(?:^|[,;:(—–-]\s*|\b(?:please|and|but|so|then|just|also|we|again|pls)\s+)(?:do not|don'?t|dont)\b(?!\s+(?:know|think|see|understand|get|care|mind|remember|like|want to know|worry|have|believe|need|really|seem|work|exist)\b)/i,
  // "Make sure that …", "From now on …", "main is off limits."
  /\b(?:make sure|be sure to|ensure|remember to|take care (?:to|that)|keep in mind|stick (?:to|with)|from now on|under no circumstances|at all times|no matter what|not allowed|forbidden|off.?limits)\b/i,
  // "I'd prefer tabs.", "Avoid globals.", "Keep it short."
  /\b(?:I|we|I'?d|we'?d) (?:would )?(?:strongly )?prefer\b|^\s*(?:please )?(?:prefer|avoid|refrain|stop|keep|leave)\b/i,
  // "Only change the tests.", "Use only the API.", "without changing the schema"
  /\bonly (?:use|ever|touch|change|edit|modify|commit|push|run|add|write|create|do|if|when|after|with)\b|\b(?:use|touch|change|edit|run|do|commit) only\b/i,
  /\b(?:without|instead of) (?:ever |any )?(?:using|changing|touching|asking|breaking|adding|modifying)\b/i,
  // "Ask me before you push."
  /^\W*(?:please |and |but |also |then )*(?:ask|check|run|tell|show|wait|get|let|test|verify|confirm|read|look)\b.{2,160}\bbefore (?:you|we|any|each|every|\w+ing)\b/i,
  // "Niemals pushen.", "Il faut demander.", "Nunca borres nada."
  /\b(?:niemals|nie wieder|immer|darfst? (?:nicht|nie)|auf keinen Fall|achte darauf|stell(?:e)? sicher|bitte (?:kein|nicht)|musst?|sollst? (?:nicht|nie)|nur noch)\b/i,
  /\b(?:ne \w+ (?:jamais|pas|plus)|n'\w+ (?:jamais|pas)|toujours|il faut|assure[- ](?:toi|vous)|veillez? à|uniquement|évite[rz]?|interdit)(?![\p{L}])/iu,
  /(?<![\p{L}])(?:nunca|jamás|siempre|debes?|tienes que|hay que|asegúrate|asegúrese|evita|solo usa|solamente|prohibido|no (?:uses|toques|cambies|hagas|borres|añadas))(?![\p{L}])/iu,
  // "不要改动它。", "必ず確認して。"
  /不要|不能|不得|不准|禁止|必须|必須|一定要|务必|總是|总是|永远|永遠|确保|確保|只能|请勿|避免|别再/,
  /必ず|絶対に?|しないで|するな|してはいけ|てはならない|決して|常に|禁止|だけを?使/,
]

/** "Why must it be green?" and "I think it should only run once" are no rules. */
const notAnOrder =
  /[?？]\s*$|^\s*(?:why|what|how|when|where|who|is|are|does|did|do you|can|could|would|should i|should we|i (?:think|guess|wonder|assume)|maybe|it (?:seems|looks))\b/i

/** "You must …", "Never …": in a long message, which may be pasted, only sentences that address somebody count. */
const addressed =
  /\b(?:you|your|we|our|us|I|my|me|please|let'?s)\b|^\W*(?:never|always|don'?t|do not|make sure|ensure|only|avoid|keep|use|prefer|stop|remember|no)\b/i
const longMessage = 1_500

/** "Fix the gate. Never push to main. Why must it be green?" → "Never push to main." */
export function rulesIn(text: string): readonly string[] {
  const said = withoutPasted(text.slice(0, maxSaid))
  return sentencesOf(said).filter(
    (sentence) =>
      !notAnOrder.test(sentence) &&
      orders.some((order) => order.test(sentence)) &&
      (said.length <= longMessage || addressed.test(sentence)),
  )
}

/** "The staging site is at …" and "We decided to …" stay true; "Sort the orders" is done once. */
const statement = /^(?:the|this|that|these|those|it|there|we|our|my|they|i)\b/i

/**
 * True if the message has a rule, or a statement that stays true after the request is finished: "We decided to keep the queue
 * in Postgres."
 */
export function saysSomethingLasting(text: string): boolean {
  if (rulesIn(text).length > 0) return true
  return sentencesOf(withoutPasted(text.slice(0, maxSaid))).some(
    (sentence) => statement.test(sentence) && sentence.split(' ').length >= 6 && !/[?？]\s*$/.test(sentence),
  )
}

/**
 * Blocks that a person pasted instead of writing them: fenced code, "> quoted lines", "<log>…</log>" and indented lines. "Fix
 * it.\n> Never push." → "Fix it." and an empty line.
 */
const pasted =
  /^(?:```|~~~)[\s\S]*?(?:^(?:```|~~~)\s*$|(?![\s\S]))|^<([\w-]+)\b[^>]*>[\s\S]*?(?:^<\/\1>|<\/\1>|(?![\s\S]))|^(?: {4,}|\t|>|\|).*$/gm

export function withoutPasted(text: string): string {
  return text.replace(pasted, '\n')
}

/** A longer line without a full stop is data. */
const maxSentence = 800

/** "fix it. then push" is two sentences; "e.g. this" is not. */
const sentenceEnd =
  /(?<=[.!?]["')\]]?)(?<!\b(?:e\.g|i\.e|etc|vs|cf|ca|bzw|approx|resp)\.)\s+(?=[\p{L}"'(¡¿])|(?<=[。！？])/u

/** A line of 60 characters or more that continues in lower case was wrapped by an editor: "… never push\nto main." → "… never push to main." */
const wrap = /^(.{59,}[^.!?:;\s])[ \t]*\n(?=[a-z(])/gm

/** "1. Fix it. Then push." → "Fix it.", "Then push." A text that is too long to be a sentence is left out. */
export function sentencesOf(text: string): readonly string[] {
  const lines = text.replace(wrap, '$1 ').split('\n')
  return lines
    .flatMap((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)]|#+)\s+/, '').split(sentenceEnd))
    .map((sentence) => sentence.trim())
    .filter(({ length }) => length >= 4 && length <= maxSentence)
}
