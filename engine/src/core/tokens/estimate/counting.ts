// Counts the tokens of blocks and messages with either estimator, scaled to a model's tokenizer and to what was learned about it.
// The only place that applies scale and safety margin.
import { modelFacts, type TokenizerFamily } from '../../catalog/models.ts'
import { stringAt } from '../../message/json.ts'
import {
  type Block,
  blocksOf,
  type Content,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type Message,
} from '../../message/message.ts'
import { estimateTokens } from './estimate.ts'
import { imageSize, imageTokens } from './image-size.ts'

export type EstimatorName =
  | 'fitted' // ours: weights fitted to open text
  | 'chars/4' // the documented baseline

/** `text` still has to be scaled to the model's tokens; `media` does not. */
export type Measure = { readonly text: number; readonly media: number }

/** Counts the tokens of a text, as the host's own tokenizer does. */
export type Tokenizer = (text: string) => number

export type Measuring = {
  readonly estimator?: EstimatorName | undefined
  /** Counts texts instead of the estimator. Media are still estimated. */
  readonly tokenizer?: Tokenizer | undefined
  /** Determines how images are scaled. */
  readonly model?: string | undefined
}

/** For media of unknown size, and for all media in the baseline. */
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
  const isBaseline = how.estimator === 'chars/4' && !how.tokenizer
  if (typeof content === 'string') sum.text += isBaseline ? baselineTokens(content.length) : textTokens(content, how)
  else for (const block of blocksOf(content)) (isBaseline ? addBaseline : addFitted)(sum, block, how)
}

/** Counts only the text and media of a result, as documented. */
function addBaseline(sum: Sum, block: Block): void {
  if (isText(block)) sum.text += baselineTokens(block.text.length)
  else if (isMedia(block)) sum.media += flatMediaTokens
  else if (isToolUse(block)) sum.text += baselineTokens(block.name.length + jsonOf(block.input).length)
  else if (!isToolResult(block)) sum.text += baselineTokens(jsonOf(block).length)
  else for (const part of blocksOf(block.content)) if (isText(part) || isMedia(part)) addBaseline(sum, part)
}

function textTokens(text: string, { tokenizer = estimateTokens }: Measuring): number {
  return tokenizer(text)
}

function addFitted(sum: Sum, block: Block, how: Measuring): void {
  if (isText(block)) sum.text += textTokens(block.text, how)
  else if (isToolUse(block)) sum.text += textTokens(block.name, how) + textTokens(jsonOf(block.input), how)
  else if (isToolResult(block)) addContent(sum, block.content ?? '', how)
  else if (block.type === 'image') sum.media += imageBlockTokens(block, how.model)
  else if (block.type === 'document') addDocument(sum, block, how)
  else if (isThinking(block)) addThinking(sum, block, how)
  else sum.text += textTokens(jsonOf(block), how)
}

/** Thinking stored without its text still costs tokens: about 0.25–0.29 per character of its signature (mid 2026). */
function addThinking(sum: Sum, block: Block, how: Measuring): void {
  const thinking = block.type === 'thinking' ? (stringAt(block, 'thinking') ?? '') : ''
  const sealed = stringAt(block, block.type === 'thinking' ? 'signature' : 'data') ?? ''
  if (thinking === '') sum.media += Math.round(sealed.length / 4)
  else sum.text += textTokens(thinking, how)
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
  if (kind === 'text' && data !== undefined) sum.text += textTokens(data, how)
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

export type Counting = Measuring & { readonly calibration?: Calibration | undefined }

/** Claude up to 4.6 was measured at 1.25–1.28; the newer one is inferred from "about 30 % more tokens". */
const familyFactors: Readonly<Record<TokenizerFamily, number>> = { claude: 1.25, 'claude-new': 1.6, openai: 1 }

/** Scales the estimate to a model's own tokenizer, before calibration. */
export function familyFactor(model: string | undefined): number {
  const facts = model === undefined ? undefined : modelFacts(model)
  return facts ? familyFactors[facts.tokenizer] : 1
}

/** Not rounded. As documented, the baseline has no family factor; a tokenizer of the host has none either. */
export function scaled(measure: Measure, how: Counting): number {
  return scaleOf(how)(measure)
}

function scaleOf({ estimator, tokenizer, model, calibration = uncalibrated }: Counting): (measure: Measure) => number {
  const family = tokenizer || estimator === 'chars/4' ? 1 : familyFactor(model)
  return ({ text, media }) => text * family * calibration.factor + media
}

/** Adds a third and rounds up, because underestimating costs more than overestimating. Never applied to reported counts. */
export function withMargin(estimate: number): number {
  return Math.max(0, Math.ceil((estimate * 4) / 3 - 1e-6))
}

/** Reverses `withMargin`. */
export function withoutMargin(tokens: number): number {
  return (tokens * 3) / 4
}

/** Converts a count of another model to tokens of this one. */
export function convertedTokens(
  tokens: number,
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
): number {
  if (from === undefined || to === undefined || from === to) return tokens
  return Math.ceil((tokens * familyFactor(to)) / familyFactor(from))
}

/** An estimate without margin. */
export function countTokens(messages: readonly Message[], how: Counting = {}): number {
  const sum = messages.reduce((before, { content }) => addMeasures(before, measureContent(content, how)), nothing)
  return Math.round(scaled(sum, how))
}

/** Does the same for many texts, and looks up the model only once. */
export function createTextCounter(how: Counting = {}): (text: string) => number {
  const scale = scaleOf(how)
  return (text) => Math.round(scale(measureContent(text, how)))
}

/** How far the estimate is off for a model, learned as a bounded exponential average. */
export type Calibration = {
  /** Multiplies an estimate that includes the family factor but not the margin. */
  readonly factor: number
}

/** Two counts of the same text. `estimated` is without calibration and margin. */
export type Comparison = { readonly estimated: number; readonly reported: number }

export type Calibrations = { readonly [model: string]: Calibration }

export const uncalibrated: Calibration = { factor: 1 }

const rate = 0.2
const maxStep = 0.15
const lowest = 0.5
const highest = 2
export function isCalibration(factor: number): boolean {
  return factor >= lowest && factor <= highest
}

/** Small turns mislead, because text that the client injects unrecorded outweighs their own. Measured on eleven real sessions. */
export const minCompared = 2_000

export function recalibrate(calibration: Calibration, { estimated, reported }: Comparison): Calibration {
  if (!isUsable(estimated) || !isUsable(reported) || estimated < minCompared) return calibration
  const step = rate * (reported / estimated - calibration.factor)
  const factor = calibration.factor + clamp(step, -maxStep, maxStep)
  return { factor: clamp(factor, lowest, highest) }
}

/** Calibrates by one true count of a whole context. Undefined if the count is not usable. */
export function calibratedBy({ estimated, reported }: Comparison): Calibration | undefined {
  if (!isUsable(estimated) || !isUsable(reported) || estimated < minCompared) return undefined
  return { factor: clamp(reported / estimated, lowest, highest) }
}

export function calibrationOf(calibrations: Calibrations, model: string | undefined): Calibration {
  const known = model !== undefined && Object.hasOwn(calibrations, model) ? calibrations[model] : undefined
  return known ?? uncalibrated
}

export function recalibrateModel(calibrations: Calibrations, model: string, comparison: Comparison): Calibrations {
  return { ...calibrations, [model]: recalibrate(calibrationOf(calibrations, model), comparison) }
}

function isUsable(value: number): boolean {
  return Number.isFinite(value) && value > 0
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
