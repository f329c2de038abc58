// Splits the context by kind. The kinds and an unattributed rest add up to the size. If the estimates add up to more than the
// provider counted, they are scaled down to its count.
import {
  type Block,
  blocksOf,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type ViewMessage,
} from '../message/message.ts'
import { type ContextSize, contextSize, modelOf, type SizeOptions } from './context-size.ts'
import { type Measure, type Measuring, measureContent, scaled } from './estimate/counting.ts'
import { duplicateReads } from './file-reads.ts'

export const kinds = [
  'human-messages',
  'assistant-text',
  'thinking',
  'tool-requests',
  'tool-results',
  'attachments',
  'images',
  'summaries',
  'injected-text', // command output, caveats, reminders
  'system-prompt',
  'tool-definitions',
  'memory-files',
  'other',
] as const
export type Kind = (typeof kinds)[number]

/** Tokens of one kind. `parts` lists tools, attachment kinds or files, largest first. */
export type KindTokens = {
  readonly kind: Kind
  readonly tokens: number
  readonly parts: readonly { readonly name: string; readonly tokens: number }[]
}

export type BreakdownInput = SizeOptions & {
  readonly messages: readonly ViewMessage[]
  readonly size?: ContextSize | undefined
  readonly systemPrompt?: string | undefined
  readonly tools?: readonly ToolDefinition[] | undefined
  /** Files that are in the request but not in the messages. */
  readonly memoryFiles?: readonly { readonly path: string; readonly text: string }[] | undefined
}

export type ToolDefinition = {
  readonly name: string
  readonly server?: string | undefined
  readonly definition: unknown
}

export type Breakdown = {
  readonly size: ContextSize
  /** Largest first. With `unattributed`, which is never negative, they add up to the size. */
  readonly kinds: readonly KindTokens[]
  readonly unattributed: number
  /** Tool definitions by MCP server. Tools without a server are "built-in". */
  readonly toolServers: readonly { readonly name: string; readonly tokens: number }[]
  /** Part of the tool results: earlier reads whose lines were read again later. */
  readonly duplicateReads: {
    readonly tokens: number
    readonly files: readonly { readonly path: string; readonly reads: number; readonly tokens: number }[]
  }
}

export type Book = (kind: Kind, measure: Measure, part?: string) => void

/** The default model is the one of the newest answer. */
export function breakdown(given: BreakdownInput): Breakdown {
  const input = { ...given, model: given.model ?? modelOf(given.messages) }
  const measured = new Map<Kind, { all: number; parts: Map<string, number> }>()
  const servers = new Map<string, number>()
  const book: Book = (kind, measure, part) => {
    const tokens = scaled(measure, input)
    const entry = measured.get(kind) ?? { all: 0, parts: new Map() }
    measured.set(kind, entry)
    entry.all += tokens
    if (part !== undefined) entry.parts.set(part, (entry.parts.get(part) ?? 0) + tokens)
  }
  bookMessages(input, book)
  bookRequest(input, book, servers)
  const sumOf = (some: Iterable<readonly [Kind, { readonly all: number }]>) =>
    [...some].reduce((sum, [, { all }]) => sum + all, 0)
  const overhead = Math.round(sumOf([...measured].filter(([kind]) => outsideMessages.includes(kind))))
  const size = input.size ?? contextSize(input.messages, { ...input, overhead: input.overhead ?? overhead })
  const scale = Math.min(1, size.tokens / Math.max(1, sumOf(measured)))
  const found = [...measured]
    .map(([kind, { all, parts }]) => ({ kind, tokens: Math.round(all * scale), parts: ranked(parts, scale) }))
    .toSorted((a, b) => b.tokens - a.tokens)
  // Rounding may have added a few tokens; subtract them from the largest kind.
  const [largest, ...others] = found
  const extra = Math.max(0, total(found) - size.tokens)
  const kinds = largest ? [{ ...largest, tokens: largest.tokens - extra }, ...others] : []
  return {
    size,
    kinds: kinds.filter(({ tokens }) => tokens > 0),
    unattributed: size.tokens - total(kinds),
    toolServers: ranked(servers, scale),
    duplicateReads: duplicatesOf(input, scale),
  }
}

const outsideMessages: readonly Kind[] = ['system-prompt', 'tool-definitions', 'memory-files']

function total(items: readonly { readonly tokens: number }[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0)
}

function bookMessages(input: BreakdownInput, book: Book): void {
  const toolNames = new Map<string, string>()
  for (const message of input.messages) bookMessage(message, { how: input, toolNames, book })
}

export type Booking = {
  readonly how: Measuring
  /** Tool names by the id of the call. This adds new calls. */
  readonly toolNames: Map<string, string>
  readonly book: Book
}

/** Calls `book` for each block of a message. */
export function bookMessage(message: ViewMessage, { how, toolNames, book }: Booking): void {
  for (const block of blocksOf(message.content)) {
    const measure = measureContent([block], how)
    if (isToolUse(block)) {
      toolNames.set(block.id, block.name)
      book('tool-requests', measure, block.name)
    } else if (isToolResult(block)) {
      // Images count separately, even inside a result.
      const images = blocksOf(block.content).filter(({ type }) => type === 'image')
      const ofImages = measureContent(images, how)
      if (images.length > 0) book('images', ofImages)
      const rest = { text: measure.text - ofImages.text, media: measure.media - ofImages.media }
      book('tool-results', rest, toolNames.get(block.tool_use_id) ?? 'unknown tool')
    } else if (block.type === 'image') book('images', measure)
    else if (isThinking(block)) book('thinking', measure)
    else if (message.origin === 'attachment') book('attachments', measure, message.attachment ?? 'unknown kind')
    else book(kindOfText(block, message), measure)
  }
}

function kindOfText(block: Block, message: ViewMessage): Kind {
  if (message.origin === 'summary') return 'summaries'
  if (message.role === 'assistant') return isText(block) ? 'assistant-text' : 'other'
  if (message.origin === 'human') return 'human-messages'
  return isText(block) ? 'injected-text' : 'other'
}

function bookRequest(input: BreakdownInput, book: Book, servers: Map<string, number>): void {
  const { systemPrompt, memoryFiles = [], tools = [] } = input
  if (systemPrompt) book('system-prompt', measureContent(systemPrompt, input))
  for (const { path, text } of memoryFiles) book('memory-files', measureContent(text, input), path)
  for (const { name, server, definition } of tools) {
    const measure = measureContent(name + JSON.stringify(definition ?? ''), input)
    book('tool-definitions', measure, name)
    const from = server ?? /^mcp__(.+?)__/.exec(name)?.[1] ?? 'built-in'
    servers.set(from, (servers.get(from) ?? 0) + scaled(measure, input))
  }
}

function duplicatesOf(input: BreakdownInput, scale: number): Breakdown['duplicateReads'] {
  const files = new Map<string, { reads: number; tokens: number }>()
  for (const read of duplicateReads(input.messages)) {
    const file = files.get(read.path) ?? { reads: 0, tokens: 0 }
    files.set(read.path, file)
    file.reads++
    file.tokens += Math.round(scaled(measureContent([read.result], input), input) * scale)
  }
  const list = [...files].map(([path, file]) => ({ path, ...file })).toSorted((a, b) => b.tokens - a.tokens)
  return { tokens: total(list), files: list }
}

function ranked(
  parts: ReadonlyMap<string, number>,
  scale: number,
): readonly { readonly name: string; readonly tokens: number }[] {
  return [...parts]
    .map(([name, tokens]) => ({ name, tokens: Math.round(tokens * scale) }))
    .toSorted((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1))
}
