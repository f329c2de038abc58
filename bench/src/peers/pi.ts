// Conversations in pi's shape, and its own functions for them: the session, its context, the compaction. Its model is one
// that answers at once.
import type { Block, Message } from 'everlong'
import { blocksOf, isText, isThinking, isToolResult, isToolUse, type JsonObject, textOf } from 'everlong/internal'
import { importApart } from './apart.ts'
import { originOf, standingFor } from './origins.ts'

/** As pi keeps a line of a session. Loosely typed: its own types come with 200 MB. */
export type PiEntry = JsonObject & { readonly id: string; readonly parentId: string | null }
type PiMessage = JsonObject & { readonly role: string }
type Preparation = JsonObject & {
  readonly firstKeptEntryId: string
  readonly messagesToSummarize: readonly PiMessage[]
  readonly turnPrefixMessages: readonly PiMessage[]
}
type Settings = { readonly enabled: boolean; readonly reserveTokens: number; readonly keepRecentTokens: number }
type Compacted = { readonly summary: string; readonly firstKeptEntryId: string; readonly tokensBefore: number }

export type Pi = {
  readonly estimateTokens: (message: PiMessage) => number
  readonly estimateContextTokens: (messages: readonly PiMessage[]) => { readonly tokens: number }
  readonly prepareCompaction: (entries: readonly PiEntry[], settings: Settings) => Preparation | undefined
  readonly compact: (
    preparation: Preparation,
    model: unknown,
    apiKey: string,
  ) => Promise<Compacted & { readonly details: unknown }>
  readonly buildSessionContext: (entries: readonly PiEntry[]) => { readonly messages: readonly PiMessage[] }
  readonly SessionManager: {
    readonly open: (path: string) => PiSession
    readonly inMemory: () => PiSession
  }
}

type PiSession = {
  readonly appendMessage: (message: PiMessage) => string
  readonly appendCompaction: (summary: string, firstKept: string, before: number, details?: unknown) => string
  readonly getBranch: () => readonly PiEntry[]
  readonly getEntries: () => readonly PiEntry[]
  readonly buildSessionContext: () => { readonly messages: readonly PiMessage[] }
}

export async function loadPi(): Promise<Pi> {
  const compaction = await importApart<Pi>('@mariozechner/pi-coding-agent/dist/core/compaction/index.js')
  const sessions = await importApart<Pi>('@mariozechner/pi-coding-agent/dist/core/session-manager.js')
  return { ...compaction, ...sessions }
}

type Faux = {
  readonly getModel: () => unknown
  readonly setResponses: (
    responses: readonly ((context: { readonly messages: readonly PiMessage[] }) => unknown)[],
  ) => void
}

/** A model for its compaction, from pi's own kit for tests: each summary is what `answer` makes of the prompt. */
export async function piModel(answer: (prompt: string) => string | Promise<string>) {
  const { registerFauxProvider, fauxAssistantMessage } = await importApart<{
    readonly registerFauxProvider: (options: object) => Faux
    readonly fauxAssistantMessage: (text: string) => unknown
  }>('@mariozechner/pi-ai/dist/index.js')
  const faux = registerFauxProvider({ tokenSize: { min: 100_000, max: 100_000 } })
  const respond = async ({ messages }: { readonly messages: readonly PiMessage[] }) =>
    fauxAssistantMessage(await answer(messages.map(({ content }) => textOf(content as never)).join('\n')))
  return {
    /** Before each compaction: it may ask twice, once for the history and once for a turn that was cut. */
    ready: () => {
      faux.setResponses([respond, respond])
      return faux.getModel()
    },
  }
}

const noUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: {} }

/** The messages of a session of pi's; without usage, so that it counts by its own rule. */
export function toPi(messages: readonly Message[]): readonly PiMessage[] {
  const timestamp = Date.UTC(2026, 2, 2)
  return messages.flatMap(({ role, content }): readonly PiMessage[] => {
    const blocks = blocksOf(content)
    if (role === 'assistant') {
      const parts = blocks.flatMap((block): readonly JsonObject[] => {
        const part = partOf(block)
        return part ? [standingFor(part, [block])] : []
      })
      const who = { api: 'faux', provider: 'faux', model: 'faux', usage: noUsage, stopReason: 'stop' }
      return [{ role: 'assistant', content: parts, ...who, timestamp }]
    }
    const results = blocks.filter(isToolResult).map((block) => {
      const text = [{ type: 'text', text: textOf(block.content) }]
      const call = { toolCallId: block.tool_use_id, toolName: 'tool', isError: block.is_error === true }
      return standingFor({ role: 'toolResult', ...call, content: text, timestamp }, [block])
    })
    const rest = blocks.filter(isText)
    return [
      ...results,
      ...(rest.length > 0
        ? [{ role: 'user', content: rest.map(({ text }) => ({ type: 'text', text })), timestamp }]
        : []),
    ]
  })
}

function partOf(block: Block): JsonObject | undefined {
  if (isText(block)) return { type: 'text', text: block.text }
  if (isThinking(block)) return { type: 'thinking', thinking: String(block.thinking ?? '') }
  if (isToolUse(block)) return { type: 'toolCall', id: block.id, name: block.name, arguments: block.input }
  return undefined
}

export function toPiEntries(messages: readonly PiMessage[]): readonly PiEntry[] {
  return messages.map((message, at) => ({
    type: 'message',
    id: `e${at}`,
    parentId: at === 0 ? null : `e${at - 1}`,
    timestamp: '2026-03-02T09:00:00.000Z',
    message,
  }))
}

/** Back into our shape: for counting, and for a summarizer that reads messages. */
export function fromPi(messages: readonly PiMessage[]): readonly Message[] {
  return messages.map((message): Message => {
    if (message.role === 'compactionSummary') return { role: 'user', content: [textBlock(String(message.summary))] }
    const content = (
      Array.isArray(message.content) ? message.content : [textBlock(String(message.content))]
    ) as readonly Block[]
    if (message.role === 'toolResult') {
      const origin = originOf(message)
      if (origin) return { role: 'user', content: origin }
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: String(message.toolCallId), content }] }
    }
    const blocks = content.flatMap((part) => originOf(part) ?? [blockOf(part)])
    return { role: message.role === 'assistant' ? 'assistant' : 'user', content: blocks }
  })
}

function blockOf(part: Block): Block {
  if (part.type !== 'toolCall') return part
  return { type: 'tool_use', id: String(part.id), name: String(part.name), input: part.arguments as JsonObject }
}

const textBlock = (text: string): Block => ({ type: 'text', text })
