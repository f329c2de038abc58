// Measures blocks and messages with either estimator. Text still has to be scaled to the model's tokens, media not.
import { type Block, blocksOf, type Content, isMedia, isText, isToolResult, isToolUse } from '../../message/block.ts'
import { stringAt } from '../../message/json.ts'
import { estimateTokens } from './estimate.ts'
import { imageSize, imageTokens } from './image-size.ts'

export type EstimatorName =
  | 'fitted' // ours: weights fitted to open text
  | 'chars/4' // the documented baseline

export type Measure = { readonly text: number; readonly media: number }

export type Measuring = {
  readonly estimator?: EstimatorName | undefined
  /** Determines how images are scaled. */
  readonly model?: string | undefined
}

/** For media whose size is unknown, and all media in the baseline. */
const flatMediaTokens = 2_000

function baselineTokens(characters: number): number {
  return Math.round(characters / 4)
}

export const nothing: Measure = { text: 0, media: 0 }

export function addMeasures(a: Measure, b: Measure): Measure {
  return { text: a.text + b.text, media: a.media + b.media }
}

export function measureContent(content: Content, how: Measuring = {}): Measure {
  const sum = { text: 0, media: 0 }
  addContent(sum, content, how)
  return sum
}

/** Mutable, so that counting a conversation allocates nothing per block. */
type Sum = { text: number; media: number }

function addContent(sum: Sum, content: unknown, how: Measuring): void {
  const isBaseline = how.estimator === 'chars/4'
  if (typeof content === 'string') sum.text += isBaseline ? baselineTokens(content.length) : estimateTokens(content)
  else for (const block of blocksOf(content)) (isBaseline ? addBaseline : addFitted)(sum, block, how)
}

/** Only text and media of a result count, as documented. */
function addBaseline(sum: Sum, block: Block): void {
  if (isText(block)) sum.text += baselineTokens(block.text.length)
  else if (isMedia(block)) sum.media += flatMediaTokens
  else if (isToolUse(block)) sum.text += baselineTokens(block.name.length + jsonOf(block.input).length)
  else if (!isToolResult(block)) sum.text += baselineTokens(jsonOf(block).length)
  else for (const part of blocksOf(block.content)) if (isText(part) || isMedia(part)) addBaseline(sum, part)
}

function addFitted(sum: Sum, block: Block, how: Measuring): void {
  if (isText(block)) sum.text += estimateTokens(block.text)
  else if (isToolUse(block)) sum.text += estimateTokens(block.name) + estimateTokens(jsonOf(block.input))
  else if (isToolResult(block)) addContent(sum, block.content ?? '', how)
  else if (block.type === 'image') sum.media += imageBlockTokens(block, how.model)
  else if (block.type === 'document') addDocument(sum, block, how)
  else if (block.type === 'thinking') addThinking(sum, stringAt(block, 'thinking'), stringAt(block, 'signature'))
  else if (block.type === 'redacted_thinking') addThinking(sum, '', stringAt(block, 'data'))
  else sum.text += estimateTokens(jsonOf(block))
}

/** Thinking stored without its text still costs tokens: about 0.25–0.29 per character of its signature (mid 2026). */
function addThinking(sum: Sum, thinking = '', sealed = ''): void {
  if (thinking === '') sum.media += Math.round(sealed.length / 4)
  else sum.text += estimateTokens(thinking)
}

function imageBlockTokens(block: Block, model: string | undefined): number {
  const data = stringAt(block.source, 'data')
  const size = data === undefined ? undefined : imageSize(data)
  return size ? imageTokens(size, model) : flatMediaTokens
}

/** PDF pages and referenced files have no text to count. */
function addDocument(sum: Sum, block: Block, how: Measuring): void {
  const kind = stringAt(block.source, 'type')
  const data = stringAt(block.source, 'data')
  const content = kind === 'content' ? (block.source as { readonly content?: unknown }).content : undefined
  if (kind === 'text' && data !== undefined) sum.text += estimateTokens(data)
  else if (typeof content === 'string' || Array.isArray(content)) addContent(sum, content, how)
  else sum.media += flatMediaTokens
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return String(value)
  }
}
