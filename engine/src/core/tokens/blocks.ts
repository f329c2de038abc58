// Measures blocks, contents and messages with one of the two estimators. Text and media are kept apart: text is
// counted in the estimator's tokens and still has to be scaled, media is in the model's own tokens already.
import { type Block, blocksOf, type Content, isText, isToolResult, isToolUse } from '../message/block.ts'
import { stringAt } from '../message/json.ts'
import { baselineTokens, flatMediaTokens } from './baseline.ts'
import { estimateTokens } from './estimate.ts'
import { imageSize, imageTokens } from './image-size.ts'

export type EstimatorName =
  | 'fitted' // ours: weights fitted on open text
  | 'chars/4' // the documented baseline

export type Measure = { readonly text: number; readonly media: number }

export type Measuring = {
  readonly estimator?: EstimatorName | undefined
  /** Says how images are scaled. */
  readonly model?: string | undefined
}

export const nothing: Measure = { text: 0, media: 0 }

export function addMeasures(a: Measure, b: Measure): Measure {
  return { text: a.text + b.text, media: a.media + b.media }
}

export function measureContent(content: Content, how: Measuring = {}): Measure {
  return blocksOf(content).reduce((sum, block) => addMeasures(sum, measureBlock(block, how)), nothing)
}

export function measureBlock(block: Block, how: Measuring = {}): Measure {
  return how.estimator === 'chars/4' ? baselineBlock(block) : fittedBlock(block, how)
}

function baselineBlock(block: Block): Measure {
  if (isText(block)) return { text: baselineTokens(block.text), media: 0 }
  if (block.type === 'image' || block.type === 'document') return { text: 0, media: flatMediaTokens }
  if (isToolUse(block)) return { text: baselineTokens(block.name + jsonOf(block.input)), media: 0 }
  if (isToolResult(block)) return baselineResult(block.content)
  return { text: baselineTokens(jsonOf(block)), media: 0 }
}

/** A result counts its text and its media; what else it may hold is not in the documented rule. */
function baselineResult(content: unknown): Measure {
  return blocksOf(content)
    .filter((part) => isText(part) || part.type === 'image' || part.type === 'document')
    .reduce((sum, part) => addMeasures(sum, baselineBlock(part)), nothing)
}

function fittedBlock(block: Block, how: Measuring): Measure {
  if (isText(block)) return { text: estimateTokens(block.text), media: 0 }
  if (isToolUse(block)) return { text: estimateTokens(block.name) + estimateTokens(jsonOf(block.input)), media: 0 }
  if (isToolResult(block)) return measureContent(block.content ?? '', how)
  if (block.type === 'image') return { text: 0, media: imageBlockTokens(block, how.model) }
  if (block.type === 'document') return documentMeasure(block, how)
  if (block.type === 'thinking') return thinkingMeasure(stringAt(block, 'thinking'), stringAt(block, 'signature'))
  if (block.type === 'redacted_thinking') return thinkingMeasure('', stringAt(block, 'data'))
  return { text: estimateTokens(jsonOf(block)), media: 0 }
}

/**
 * Clients often store thinking without its text; it costs tokens all the same. Its signature then tells how long it
 * was: in sessions of mid 2026, 0.25–0.29 of the model's tokens a character.
 */
function thinkingMeasure(thinking = '', sealed = ''): Measure {
  return thinking === ''
    ? { text: 0, media: Math.round(sealed.length / 4) }
    : { text: estimateTokens(thinking), media: 0 }
}

function imageBlockTokens(block: Block, model: string | undefined): number {
  const data = stringAt(block.source, 'data')
  const size = data === undefined ? undefined : imageSize(data)
  return size ? imageTokens(size, model) : flatMediaTokens
}

/** Text documents by their text; pages that were sent as bytes or by name have no text to count. */
function documentMeasure(block: Block, how: Measuring): Measure {
  const kind = stringAt(block.source, 'type')
  const data = stringAt(block.source, 'data')
  if (kind === 'text' && data !== undefined) return { text: estimateTokens(data), media: 0 }
  const content = kind === 'content' ? (block.source as { readonly content?: unknown }).content : undefined
  if (typeof content === 'string' || Array.isArray(content)) return measureContent(blocksOf(content), how)
  return { text: 0, media: flatMediaTokens }
}

/** Never throws: an input that JSON cannot hold counts as its plain spelling. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return String(value)
  }
}
