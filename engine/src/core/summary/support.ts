// What a summary may lean on: the text of its source, and which names in a summary occur nowhere in it.
import type { Ledger } from '../ledger/facts.ts'
import { namesIn } from '../ledger/names.ts'
import { type Block, blocksOf, isText, isToolResult, isToolUse, textOf } from '../message/block.ts'
import { isObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'

/** Everything that the messages show, thinking and media left out. */
export function sourceText(messages: readonly ViewMessage[]): string {
  const parts: string[] = []
  for (const message of messages) {
    if (typeof message.content === 'string') parts.push(message.content)
    else for (const block of blocksOf(message.content)) addBlock(block, parts)
  }
  return parts.join('\n')
}

function addBlock(block: Block, parts: string[]): void {
  if (isText(block)) parts.push(block.text)
  else if (isToolResult(block)) parts.push(textOf(block.content))
  else if (isToolUse(block)) {
    parts.push(block.name)
    addValue(block.input, parts)
  }
}

function addValue(value: unknown, parts: string[]): void {
  if (typeof value === 'string') parts.push(value)
  else if (typeof value === 'number') parts.push(String(value))
  else if (Array.isArray(value)) for (const part of value) addValue(part, parts)
  else if (isObject(value)) {
    for (const [key, part] of Object.entries(value)) {
      parts.push(key)
      addValue(part, parts)
    }
  }
}

/** What earlier rounds knew and the messages may not show any more. */
export function ledgerText(ledger: Ledger): string {
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
export function unsupportedIn(summary: string, source: string): readonly string[] {
  const names = namesIn(summary, new Map())
  const numbers = summary.match(/(?<![\w.,-])\d{3,}(?![\w.,-]*\w)/g) ?? []
  const known = source.toLowerCase()
  const found = [...new Set([...names, ...numbers])].filter((name) => !isSupported(name.toLowerCase(), known))
  return found.slice(0, mostReported)
}

/** A path may be told with another beginning, a name with its member, in the plural: every part must be known. */
function isSupported(name: string, source: string): boolean {
  if (source.includes(name) || source.includes(name.replace(/^#|s$/g, ''))) return true
  if (name.includes('://')) return false
  const parts = name.split(/[/.:#@~]+/).filter((part) => part.length >= 2)
  return parts.length > 1 && parts.every((part) => source.includes(part))
}
