// Reads the user's words and rules back from the text of a context that an earlier compaction wrote. A host that stores
// messages and nothing else still has these after a restart. Only quotations of the user count, never other claims.
import { emptyLedger, type Ledger, type Rule, type WordKind } from '../../ledger/facts.ts'
import { createLedger } from '../../ledger/ledger.ts'
import type { Words } from '../../ledger/user-words.ts'
import { readContinuation } from '../../prompts/continuation.ts'
import { pageTitles } from '../../prompts/page.ts'
import { olderRulesIn } from '../../prompts/recall.ts'
import { notFound } from './claims.ts'
import { isLocator, leads } from './complete-words.ts'
import { readSections } from './sections.ts'

/** Empty if the text is not a context of ours. */
export function readPage(text: string): Ledger {
  const read = readContinuation(text)
  if (!read) return emptyLedger
  const parts = partsOf(read.summary)
  const bodies = (...titles: readonly string[]) =>
    parts.filter(({ title }) => titles.includes(title)).map(({ lines }) => lines.join('\n'))
  const listed = readSections(bodies('').join()).flatMap(({ number, body }) => (number === userMessages ? [body] : []))
  const ruled = bodies(pageTitles.rules)
  const rules = ruled.flatMap(rulesIn)
  const olderRules = ruled.map(olderRulesIn).reduce((sum, count) => sum + count, 0)
  const book = createLedger({ ...emptyLedger, rules, ...(olderRules > 0 ? { olderRules } : {}) })
  const items = [
    ...bodies(...quoting)
      .flatMap((body) => itemsIn(body, codeItem))
      .filter((item) => !isLocator(item)),
    ...listed.flatMap((body) => itemsIn(body, modelItem)),
  ]
  for (const words of items.flatMap((item) => wordsOf(item) ?? [])) book.addQuoted(words)
  if (read.request !== undefined) book.addQuoted({ kind: 'message', text: read.request })
  return book.ledger()
}

/** Returns the model's summary of a context of ours, and any other text unchanged. */
export function modelSummaryIn(text: string): string {
  return partsOf(readContinuation(text)?.summary ?? text)[0].lines.join('\n')
}

const userMessages = 6

/**
 * A heading of ours ("## Rules") and the lines below it. The part before our first heading has no title: it is the model's
 * summary, completed by code.
 */
type Part = { readonly title: string; readonly lines: string[] }

const titles = new Set<string>(Object.values(pageTitles))
const quoting = [pageTitles.words, pageTitles.earlier, pageTitles.conversation, pageTitles.since]

function partsOf(page: string): readonly [Part, ...Part[]] {
  const parts: [Part, ...Part[]] = [{ title: '', lines: [] }]
  for (const line of page.split('\n')) {
    const title = line.startsWith('## ') ? line.slice(3) : ''
    if (titles.has(title)) parts.push({ title, lines: [] })
    else parts.at(-1)?.lines.push(line)
  }
  return parts
}

/** `- "Never push."` → a rule of the user; `- (from the agent that started this one) "Never push."` → one of that agent. */
const fromAgent = `(${leads.task[0]}) `

function rulesIn(body: string): readonly Rule[] {
  return body.split('\n').flatMap((line): readonly Rule[] => {
    const [, lead, text] = /^- (\([^)]*\) )?"(.*)"$/.exec(line) ?? []
    return text === undefined ? [] : [{ text, by: lead === fromAgent ? 'agent' : 'human', last: 0 }]
  })
}

/** In lists that code wrote, the user's words are on the first line of an item (`- User: "Fix it."`) or between tags. Indented lines are the agent's. */
const codeItem = /^- (?:User: ?)?/
/** `1. "Fix it."`, `  * "Fix it."`: the lines after it belong to it. */
const modelItem = /^\s*(?:[-*•]|\d+[.)])\s+/

function itemsIn(body: string, start: RegExp): readonly string[] {
  const items: string[][] = []
  let isTagged = false
  for (const line of body.split('\n')) {
    if (line === '<user-message>') isTagged = true
    if (!isTagged && start.test(line)) items.push([line.replace(start, '')])
    else if (isTagged || start === modelItem) items.at(-1)?.push(line)
    if (line === '</user-message>') isTagged = false
  }
  return items.map((lines) => lines.join('\n').trim())
}

/**
 * The inverse of `leadOf`: `(in reply to: Which one?) "The first"` → message, "Which one?", "The first". Undefined if nobody was quoted,
 * or the quotation was not found in the user's messages.
 */
function wordsOf(item: string): Words | undefined {
  if (item.includes(notFound)) return undefined
  const kinds = (Object.keys(leads) as WordKind[]).toSorted((a, b) => leads[b][1].length - leads[a][1].length)
  for (const kind of kinds) {
    const [alone, before] = leads[kind]
    const isAlone = alone !== '' && item.startsWith(`(${alone})`)
    const end = isAlone
      ? alone.length + 1
      : item.startsWith(`(${before}`)
        ? item.search(/\)\s+(?:["“]|<user-message>)/)
        : -1
    if (end < 0) continue
    const text = quotedText(item.slice(end + 1))
    const about = isAlone ? '' : item.slice(before.length + 1, end)
    return text === '' ? undefined : { kind, text, ...(about === '' ? {} : { about }) }
  }
  const text = quotedText(item)
  return text === '' ? undefined : { kind: 'message', text }
}

/**
 * `"Fix it" → Done.` and `"Fix it" (in full: …)` → "Fix it". An item without quotation marks is returned whole, because models
 * list messages word for word.
 */
function quotedText(item: string): string {
  const text = item.trim()
  const [, tagged] = /^<user-message>\n([\s\S]*?)\n<\/user-message>/.exec(text) ?? []
  if (tagged !== undefined) return tagged
  if (!/^["“]/.test(text)) return text
  // After the closing mark there may be the result, or a remark in parentheses.
  const result = text.search(/["”] → /)
  if (result > 0) return text.slice(1, result)
  const [, quoted] = /^.([\s\S]+)["”](?:\s+\([^\n]*\))?$/.exec(text) ?? []
  return quoted ?? text
}
