// The prompt as the model reads it: cells in the order tools → system → messages, each with its tokens, digest and cache mark.
// The cache, the limits and the usage all count from here.
import type { Block } from 'everlong'
import { isObject, isText, isToolResult, isToolUse, type JsonObject } from 'everlong/internal'
import { ttlOf } from '../request/parse.ts'
import { type InputMessage, type MessagesRequest, referenceOf, type Ttl } from '../request/request.ts'
import { lastCacheable } from '../rules/marks.ts'
import { imageTokens } from './image.ts'
import type { Tokenizer } from './tokenizer.ts'

export type Layer = 'tools' | 'system' | 'messages'

export type Cell = {
  readonly layer: Layer
  readonly digest: string
  readonly tokens: number
  readonly mark: Ttl | undefined
  /** For tool results: the id with which a cache edit may name it. */
  readonly reference?: string
}

export type Prompt = { readonly cells: readonly Cell[]; readonly tokens: number; readonly settings: Settings }

/** Settings that are cached without being content. A change invalidates their layer and all later ones. */
export type Settings = {
  readonly model: string
  readonly system: string
  readonly messages: string
  /** Everything that shapes a prompt without being content. A diagnosis compares it; the cache does not. */
  readonly all: string
}

export type PromptPorts = {
  readonly tokenizer: Tokenizer
  readonly digest: (block: JsonObject) => string
  /** Tokens of a thinking block whose text was withheld. */
  readonly hiddenTokens: (block: Block) => number | undefined
}

/** Tokens around the content, which estimates cannot know. */
const perMessage = 4
const perTool = 12
const forTools = 330

export function buildPrompt(request: MessagesRequest, messages: readonly InputMessage[], ports: PromptPorts): Prompt {
  const cells = [
    ...toolCells(request, ports),
    ...systemCells(request, ports),
    ...messageCells(request, messages, ports),
  ]
  return { cells, tokens: sumOf(cells), settings: settingsOf(request, messages) }
}

function sumOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, cell) => sum + cell.tokens, 0)
}

function toolCells(request: MessagesRequest, ports: PromptPorts): readonly Cell[] {
  return request.tools.map((tool, at) => {
    const digest = ports.digest(tool)
    const own = ports.tokenizer.remember(digest, () => {
      const { cache_control: _, ...rest } = tool
      return ports.tokenizer.count(JSON.stringify(rest))
    })
    return {
      layer: 'tools',
      digest,
      tokens: own + perTool + (at === 0 ? forTools : 0),
      mark: ttlOf(tool.cache_control),
    }
  })
}

function systemCells(request: MessagesRequest, ports: PromptPorts): readonly Cell[] {
  return request.system.map((block, at) => ({
    layer: 'system',
    digest: ports.digest(block),
    tokens: blockTokens(block, ports) + (at === 0 ? perMessage : 0),
    mark: ttlOf(block.cache_control),
  }))
}

function messageCells(
  request: MessagesRequest,
  messages: readonly InputMessage[],
  ports: PromptPorts,
): readonly Cell[] {
  const automatic = request.automaticMark
  const last = automatic === undefined ? undefined : lastCacheable(messages.flatMap((message) => message.content))
  const cells: Cell[] = []
  let role: string | undefined
  for (const message of messages) {
    for (const block of message.content) {
      if (block.type === 'cache_edits') continue
      const opens = role !== message.role
      role = message.role
      cells.push({
        layer: 'messages',
        digest: `${message.role}/${ports.digest(block)}`,
        tokens: blockTokens(block, ports) + (opens ? perMessage : 0),
        mark: markOf(block) ?? (block === last ? automatic : undefined),
        ...(isToolResult(block) ? { reference: referenceOf(block) } : {}),
      })
    }
  }
  return cells
}

/** A mark inside a tool result is a mark on the result. */
function markOf(block: Block): Ttl | undefined {
  const own = ttlOf(block.cache_control)
  if (own !== undefined || !isToolResult(block) || !Array.isArray(block.content)) return own
  const inside = block.content.findLast((part) => isObject(part) && isObject(part.cache_control))
  return inside === undefined ? undefined : ttlOf(inside.cache_control)
}

export function blockTokens(block: Block, ports: PromptPorts): number {
  return ports.tokenizer.remember(ports.digest(block), () => measure(block, ports))
}

function measure(block: Block, ports: PromptPorts): number {
  const { count } = ports.tokenizer
  if (isText(block)) return count(block.text)
  if (isToolUse(block)) return count(block.name) + count(JSON.stringify(block.input)) + 8
  if (isToolResult(block)) return resultTokens(block.content, ports) + 6
  switch (block.type) {
    case 'thinking':
      return ports.hiddenTokens(block) ?? count(String(block.thinking)) + 4
    case 'redacted_thinking':
      return Math.ceil(String(block.data).length / 6)
    case 'compaction':
      return typeof block.content === 'string' ? count(block.content) + 8 : 0
    case 'image':
      return imageTokens(base64Of(block))
    case 'document':
      return documentTokens(block, ports)
    default:
      return count(JSON.stringify({ ...block, cache_control: undefined }))
  }
}

function resultTokens(content: unknown, ports: PromptPorts): number {
  if (typeof content === 'string') return ports.tokenizer.count(content)
  if (!Array.isArray(content)) return 0
  return content.reduce((sum: number, part: Block) => sum + measure(part, ports), 0)
}

function base64Of(block: Block): string | undefined {
  const source = isObject(block.source) ? block.source : {}
  return typeof source.data === 'string' ? source.data : undefined
}

/** Text counts as text. A PDF's pages are unknown here, so every 50 KB counts as about 2,000 tokens. */
function documentTokens(block: Block, ports: PromptPorts): number {
  const source = isObject(block.source) ? block.source : {}
  if (source.type === 'text') return ports.tokenizer.count(String(source.data))
  if (source.type === 'content') return resultTokens(source.content, ports)
  return Math.max(2_000, Math.ceil((base64Of(block)?.length ?? 0) / 66_667) * 2_000)
}

function settingsOf(request: MessagesRequest, messages: readonly InputMessage[]): Settings {
  const { body } = request
  const output = isObject(body.output_config) ? body.output_config : {}
  const hasImages = messages.some((message) => message.content.some((block) => block.type === 'image'))
  const thinking = request.thinking && { ...request.thinking, block_binding: undefined }
  const effort = output.effort ?? request.facts.defaultEffort
  const { tool_choice, context_management, output_format } = body
  return {
    model: request.model,
    system: body.speed === 'fast' ? 'fast' : '',
    messages: JSON.stringify([tool_choice, thinking, effort, hasImages]),
    all: JSON.stringify([
      tool_choice,
      thinking,
      context_management,
      output,
      output_format,
      [...request.betas].toSorted(),
    ]),
  }
}
