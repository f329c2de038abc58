// What a summary may lean on: the text of its source, and which names in a summary occur nowhere in it.
import type { Ledger } from '../ledger/facts.ts'
import { namesIn } from '../ledger/names.ts'
import { type Block, blocksOf, isText, isToolResult, isToolUse, textOf } from '../message/block.ts'
import { isObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { createSearch } from './search.ts'

/** Everything that the messages show, thinking and media left out. */
export function sourceText(messages: readonly ViewMessage[]): string {
  const parts: string[] = []
  for (const message of messages) eachText(message, (text) => parts.push(text))
  return parts.join('\n')
}

type Visit = (text: string) => void

function eachText({ content }: ViewMessage, visit: Visit): void {
  if (typeof content === 'string') visit(content)
  else for (const block of blocksOf(content)) eachOf(block, visit)
}

function eachOf(block: Block, visit: Visit): void {
  if (isText(block)) visit(block.text)
  else if (isToolResult(block)) visit(typeof block.content === 'string' ? block.content : textOf(block.content))
  else if (isToolUse(block)) {
    visit(block.name)
    eachIn(block.input, visit)
  }
}

function eachIn(value: unknown, visit: Visit): void {
  if (typeof value === 'string') visit(value)
  else if (typeof value === 'number') visit(String(value))
  else if (Array.isArray(value)) for (const part of value) eachIn(part, visit)
  else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      visit(key)
      eachIn(value[key], visit)
    }
  }
}

/** What earlier rounds knew and the messages may not show any more. */
function ledgerText(ledger: Ledger): string {
  return [
    ...ledger.files.map(({ path }) => path),
    ...ledger.commands.map(({ text, outcome }) => `${text} ${outcome}`),
    ...ledger.errors.map(({ what, line }) => `${what} ${line}`),
    ...ledger.urls.map(({ url }) => url),
    ...[...ledger.typed, ...ledger.constraints, ...ledger.decisions, ...ledger.todos].map(({ text }) => text),
    ...ledger.commits.map(({ hash, title }) => `${hash} ${title}`),
    ...Object.values(ledger.repository).map((value) => (Array.isArray(value) ? value.join(' ') : String(value))),
    ...ledger.names.map(({ name }) => name),
  ].join('\n')
}

const mostReported = 50

/** Names, URLs and numbers of three digits and more that stand in the summary and nowhere in the source. */
export function unsupportedIn(
  summary: string,
  { messages, ledger }: { readonly messages: readonly ViewMessage[]; readonly ledger: Ledger },
): readonly string[] {
  const names = namesIn(summary, new Map())
  const numbers = summary.match(/(?<![\w.,-])\d{3,}(?![\w.,-]*\w)/g) ?? []
  const told = [...new Set([...names, ...numbers])].map((name) => ({ name, grounds: groundsOf(name.toLowerCase()) }))
  const search = createSearch(told.flatMap(({ grounds }) => grounds.flat()))
  search.look(ledgerText(ledger))
  const open = told.filter(({ grounds }) => !isGround(grounds, search.found))
  search.only(open.flatMap(({ grounds }) => grounds.flat()))
  // The newest first: that is what summaries mostly tell of.
  for (let at = messages.length - 1; at >= 0 && !search.isOver(); at--) {
    const message = messages[at]
    if (message) eachText(message, search.look)
  }
  return open
    .filter(({ grounds }) => !isGround(grounds, search.found))
    .map(({ name }) => name)
    .slice(0, mostReported)
}

/** Sets of words, each of which bears a name out when all of it is known. */
type Grounds = readonly (readonly string[])[]

/** A path may be told with another beginning, a name with its member, in the plural: every part must be known. */
function groundsOf(name: string): Grounds {
  // What holds the name whole holds it without its ends, and every part of it.
  const whole = name.replace(/^#|s$/g, '')
  if (name.includes('://')) return [[whole]]
  const parts = name.split(/[/.:#@~]+/).filter((part) => part.length >= 2)
  if (parts.length < 2) return [[whole]]
  return whole === name ? [parts] : [[whole], parts]
}

function isGround(grounds: Grounds, found: ReadonlySet<string>): boolean {
  return grounds.some((words) => words.every((word) => found.has(word)))
}
