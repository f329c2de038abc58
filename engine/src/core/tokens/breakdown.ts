// What the context consists of. The kinds add up to the context size exactly: the rest is "unattributed", and negative
// where the estimates exceed what the API counted.
import { type Block, blocksOf, isText, isThinking, isToolResult, isToolUse } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import { type ContextSize, contextSize, modelOf, type SizeOptions } from './context-size.ts'
import { type Measure, measureBlock, measureContent, nothing } from './estimate/blocks.ts'
import { scaled } from './estimate/counting.ts'
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

/** Tokens of one kind, with its parts if it has any (by tool, attachment kind or file), largest first. */
export type KindTokens = {
  readonly kind: Kind
  readonly tokens: number
  readonly parts: readonly { readonly name: string; readonly tokens: number }[]
}

export type BreakdownInput = SizeOptions & {
  readonly messages: readonly ViewMessage[]
  /** The size, if already known. */
  readonly size?: ContextSize | undefined
  readonly systemPrompt?: string | undefined
  readonly tools?: readonly ToolDefinition[] | undefined
  /** Files in the request outside the messages. */
  readonly memoryFiles?: readonly { readonly path: string; readonly text: string }[] | undefined
}

export type ToolDefinition = {
  readonly name: string
  readonly server?: string | undefined
  readonly definition: unknown
}

export type Breakdown = {
  readonly size: ContextSize
  /** Largest first. With `unattributed` they add up to the size. */
  readonly kinds: readonly KindTokens[]
  readonly unattributed: number
  /** Tool definitions by MCP server; the others are "built-in". */
  readonly toolServers: readonly { readonly name: string; readonly tokens: number }[]
  /** Part of the tool results: earlier reads whose lines were read again later. */
  readonly duplicateReads: {
    readonly tokens: number
    readonly files: readonly { readonly path: string; readonly reads: number; readonly tokens: number }[]
  }
}

type Ledger = (kind: Kind, part: string | undefined, measure: Measure) => void

/** The default model is that of the newest answer. */
export function breakdown(given: BreakdownInput): Breakdown {
  const input = { ...given, model: given.model ?? modelOf(given.messages) }
  const measured = new Map<Kind, { all: number; parts: Map<string, number> }>()
  const servers = new Map<string, number>()
  const book: Ledger = (kind, part, measure) => {
    const tokens = scaled(measure, input)
    const entry = measured.get(kind) ?? { all: 0, parts: new Map() }
    measured.set(kind, entry)
    entry.all += tokens
    if (part !== undefined) entry.parts.set(part, (entry.parts.get(part) ?? 0) + tokens)
  }
  bookMessages(input, book)
  bookRequest(input, book, servers)
  const found = [...measured].map(([kind, { all, parts }]) => ({ kind, tokens: Math.round(all), parts: ranked(parts) }))
  const overhead = found
    .filter(({ kind }) => outsideMessages.includes(kind))
    .reduce((sum, { tokens }) => sum + tokens, 0)
  const size = input.size ?? contextSize(input.messages, { ...input, overhead: input.overhead ?? overhead })
  return {
    size,
    kinds: found.filter(({ tokens }) => tokens > 0).toSorted((a, b) => b.tokens - a.tokens),
    unattributed: size.tokens - found.reduce((sum, { tokens }) => sum + tokens, 0),
    toolServers: ranked(servers),
    duplicateReads: duplicatesOf(input),
  }
}

const outsideMessages: readonly Kind[] = ['system-prompt', 'tool-definitions', 'memory-files']

function bookMessages(input: BreakdownInput, book: Ledger): void {
  const toolNames = new Map<string, string>()
  for (const message of input.messages) {
    for (const block of blocksOf(message.content)) {
      if (isToolUse(block)) toolNames.set(block.id, block.name)
      bookBlock({ block, message, toolNames, input }, book)
    }
  }
}

type Booking = {
  readonly block: Block
  readonly message: ViewMessage
  readonly toolNames: ReadonlyMap<string, string>
  readonly input: BreakdownInput
}

function bookBlock({ block, message, toolNames, input }: Booking, book: Ledger): void {
  const measure = measureBlock(block, input)
  if (isToolResult(block)) {
    // Images count separately, even inside a result.
    const images = blocksOf(block.content).filter(({ type }) => type === 'image')
    const ofImages = images.length === 0 ? nothing : measureContent(images, input)
    if (images.length > 0) book('images', undefined, ofImages)
    const rest = { text: measure.text - ofImages.text, media: measure.media - ofImages.media }
    book('tool-results', toolNames.get(block.tool_use_id) ?? 'unknown tool', rest)
  } else if (block.type === 'image') book('images', undefined, measure)
  else if (isToolUse(block)) book('tool-requests', block.name, measure)
  else if (isThinking(block)) book('thinking', undefined, measure)
  else if (message.origin === 'attachment') book('attachments', message.attachment ?? 'unknown kind', measure)
  else book(kindOfText(block, message), undefined, measure)
}

function kindOfText(block: Block, message: ViewMessage): Kind {
  if (message.origin === 'summary') return 'summaries'
  if (message.role === 'assistant') return isText(block) ? 'assistant-text' : 'other'
  if (message.origin === 'human') return 'human-messages'
  return isText(block) ? 'injected-text' : 'other'
}

function bookRequest(input: BreakdownInput, book: Ledger, servers: Map<string, number>): void {
  const text = (value: string): Measure => measureContent(value, input)
  if (input.systemPrompt) book('system-prompt', undefined, text(input.systemPrompt))
  for (const { path, text: content } of input.memoryFiles ?? []) book('memory-files', path, text(content))
  for (const tool of input.tools ?? []) {
    const measure = text(tool.name + JSON.stringify(tool.definition ?? ''))
    book('tool-definitions', tool.name, measure)
    const server = tool.server ?? serverOf(tool.name) ?? 'built-in'
    servers.set(server, (servers.get(server) ?? 0) + scaled(measure, input))
  }
}

/** MCP tools are named mcp__server__tool. */
function serverOf(name: string): string | undefined {
  return /^mcp__(.+?)__/.exec(name)?.[1]
}

function duplicatesOf(input: BreakdownInput): Breakdown['duplicateReads'] {
  const files = new Map<string, { reads: number; tokens: number }>()
  for (const read of duplicateReads(input.messages)) {
    const file = files.get(read.path) ?? { reads: 0, tokens: 0 }
    files.set(read.path, file)
    file.reads++
    file.tokens += Math.round(scaled(measureBlock(read.result, input), input))
  }
  const list = [...files].map(([path, file]) => ({ path, ...file })).toSorted((a, b) => b.tokens - a.tokens)
  return { tokens: list.reduce((sum, { tokens }) => sum + tokens, 0), files: list }
}

function ranked(parts: ReadonlyMap<string, number>): readonly { readonly name: string; readonly tokens: number }[] {
  return [...parts]
    .map(([name, tokens]) => ({ name, tokens: Math.round(tokens) }))
    .toSorted((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1))
}
