// Recognizes the client's own compaction: a request for a summary of the conversation before it. Checks a header that says so, or
// the start of the last message; never anything earlier, which may quote such a request.
import type { IncomingHttpHeaders } from 'node:http'
import { isText, type JsonObject, stringAt } from 'everlong/internal'
import type { Asked } from '../dialects/dialect.ts'
import { headerOf } from '../http/headers.ts'

type Client = {
  readonly name: 'claude-code' | 'codex'
  /** How the request for a summary begins. */
  readonly beginning: RegExp
  /** A string in the body of every such request. */
  readonly mark: string
  /** The user's instructions for the summary. */
  readonly instructions: RegExp
}

const clients: readonly Client[] = [
  {
    name: 'claude-code',
    beginning: /^CRITICAL: Respond with TEXT ONLY\b/,
    mark: 'CRITICAL: Respond with TEXT ONLY',
    // "Additional Instructions:\nKeep the schema.\n\nREMINDER: Do NOT call any tools. …"
    instructions: /\nAdditional Instructions:\s*([\s\S]*?)(?:\n\s*REMINDER: [\s\S]*)?$/,
  },
  {
    name: 'codex',
    beginning: /^You are performing a CONTEXT CHECKPOINT COMPACTION\b/,
    mark: 'CONTEXT CHECKPOINT COMPACTION',
    instructions: /(?!)/,
  },
]

export type CompactionRequest = {
  readonly client: Client['name']
  /** The user's instructions for the summary. */
  readonly instructions: string | undefined
  readonly trigger: 'manual' | 'auto'
  /** Number of blocks at the end of the last message that are the request itself. The rest belongs to the conversation. */
  readonly blocks: number
}

/** A quick check without parsing the body. */
export function mayBeCompaction(bytes: Buffer, headers: IncomingHttpHeaders): boolean {
  return saidInHeaders(headers) !== undefined || clients.some(({ mark }) => bytes.includes(mark))
}

export function compactionIn(asked: Asked, headers: IncomingHttpHeaders): CompactionRequest | undefined {
  const last = asked.messages.at(-1)
  if (last?.role !== 'user') return undefined
  for (const client of clients) {
    const from = last.content.findIndex((block) => isText(block) && client.beginning.test(block.text.trimStart()))
    const block = last.content[from]
    if (!block || !isText(block)) continue
    const instructions = client.instructions.exec(block.text)?.[1]?.trim() || undefined
    return { client: client.name, instructions, trigger: triggerIn(headers), blocks: last.content.length - from }
  }
  const told = saidInHeaders(headers)
  // With any wording, because the client declares the last message to be the request.
  return told && { client: told, instructions: undefined, trigger: triggerIn(headers), blocks: last.content.length }
}

function saidInHeaders(headers: IncomingHttpHeaders): Client['name'] | undefined {
  if (headerOf(headers, 'x-claude-code-request-class') === 'compaction') return 'claude-code'
  return stringAt(codexMetadata(headers), 'request_kind') === 'compaction' ? 'codex' : undefined
}

function triggerIn(headers: IncomingHttpHeaders): 'manual' | 'auto' {
  const trigger =
    headerOf(headers, 'x-claude-code-compaction') ?? stringAt(codexMetadata(headers).compaction, 'trigger')
  return trigger === 'manual' ? 'manual' : 'auto'
}

function codexMetadata(headers: IncomingHttpHeaders): JsonObject {
  try {
    return JSON.parse(headerOf(headers, 'x-codex-turn-metadata') ?? '{}') ?? {}
  } catch {
    return {}
  }
}

/** The conversation before the request for a summary. */
export function conversationBefore(asked: Asked, { blocks }: CompactionRequest): Asked {
  const last = asked.messages.at(-1)
  if (!last) return asked
  const rest = last.content.slice(0, -blocks)
  const before = asked.messages.slice(0, -1)
  return { ...asked, messages: rest.length === 0 ? before : [...before, { ...last, content: rest }] }
}
