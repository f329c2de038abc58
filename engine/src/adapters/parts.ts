// Shared parts of the converters: reading content of another shape and writing it back. An unchanged block is written as the same
// part that it was read from, so that unknown fields survive.

import { inputOf } from '../core/message/chat-completions.ts'
import { defined, isObject, type JsonObject, objectAt, stringAt } from '../core/message/json.ts'
import {
  type Block,
  blocksOf,
  isToolResult,
  isToolUse,
  type Message,
  type ToolResultBlock,
} from '../core/message/message.ts'
import { noTokens, type TokenCounts } from '../core/message/usage.ts'
import { headOf } from '../core/text/cut.ts'
import { isSame, type OriginOf } from './history/converter.ts'

/** A block of ours, and the part of the foreign message it was read from. */
export type ReadPart<Part> = { readonly block: Block; readonly part: Part }

export type MakeParts<Part> = (block: Block, before: Part | undefined) => readonly Part[]

/** `make` gets a new or changed block, and the part that contained it before: the call or result with the same id. */
export function writeParts<Part>(
  blocks: readonly Block[],
  read: readonly ReadPart<Part>[],
  make: MakeParts<Part>,
): readonly Part[] {
  const left = [...read]
  const take = (fits: (block: Block) => boolean): ReadPart<Part> | undefined => {
    const at = left.findIndex(({ block }) => fits(block))
    return at < 0 ? undefined : left.splice(at, 1)[0]
  }
  return blocks.flatMap((block) => {
    const same = take((was) => isSame(was, block))
    if (same) return [same.part]
    const id = idOf(block)
    return make(block, id === undefined ? undefined : take((was) => idOf(was) === id)?.part)
  })
}

function idOf(block: Block): string | undefined {
  if (isToolUse(block)) return `call ${block.id}`
  return isToolResult(block) ? `result ${block.tool_use_id}` : undefined
}

/** Each function gets the SDK's message that its blocks were read from, perhaps before they were shortened. */
export type MessageWriters<Foreign> = {
  readonly answer: (blocks: readonly Block[], before: Foreign | undefined) => readonly Foreign[]
  readonly result: (block: ToolResultBlock, before: Foreign | undefined) => readonly Foreign[]
  readonly said: (blocks: readonly Block[], before: Foreign | undefined) => readonly Foreign[]
}

/** Blocks of the same origin become one message again. Results become separate messages. */
export function writeRuns<Foreign>(
  { role, content }: Message,
  originOf: OriginOf<Foreign>,
  { answer, result, said }: MessageWriters<Foreign>,
): readonly Foreign[] {
  const runs: { readonly before: Foreign | undefined; readonly blocks: Block[] }[] = []
  for (const block of blocksOf(content)) {
    const before = originOf(block)
    const last = runs.at(-1)
    const isAlone = isToolResult(block) || last?.blocks.some(isToolResult)
    if (last && last.before === before && !isAlone) last.blocks.push(block)
    else runs.push({ before, blocks: [block] })
  }
  return runs.flatMap(({ before, blocks }) => {
    if (role === 'assistant') return answer(blocks, before)
    const [first] = blocks
    return first && isToolResult(first) ? result(first, before) : said(blocks, before)
  })
}

/** The parts of a content, each with its block. */
export function readParts(content: unknown, blockOf: (part: JsonObject) => Block): readonly ReadPart<unknown>[] {
  const parts = Array.isArray(content) ? content : blocksOf(content)
  return parts.map((part) => ({ block: blockOf(isObject(part) ? part : { value: part }), part }))
}

export function textBlock(text: string): Block {
  return { type: 'text', text }
}

/** The text, if the content is a single text. */
export function onlyText(blocks: readonly Block[]): string | undefined {
  const [only] = blocks
  return blocks.length === 1 && only?.type === 'text' ? stringAt(only, 'text') : undefined
}

/** Describes an unknown part as text, so that it counts towards the size and a summary can mention it. */
export function describedPart(type: string, value: unknown): Block {
  return textBlock(`[${type}] ${headOf(JSON.stringify(value) ?? '', maxDescription)}`)
}

const maxDescription = 2_000

/** The address of an image or a document, otherwise a data URL. Undefined if it has neither. */
export function urlOf(block: Block): string | undefined {
  const source = objectAt(block, 'source')
  const data = stringAt(source, 'data')
  if (source?.type !== 'base64' || data === undefined) return stringAt(source, 'url')
  return `data:${stringAt(source, 'media_type') ?? 'application/octet-stream'};base64,${data}`
}

/** The inverse of `inputOf`. */
export function wordsOf(input: unknown): string {
  const only = isObject(input) && Object.keys(input).length === 1 ? stringAt(input, 'arguments') : undefined
  return only !== undefined && isSame(inputOf(only), input) ? only : JSON.stringify(input ?? {})
}

/** A tool in the form of the Messages API, to count its size. */
export function toolDefinition({ name, description }: JsonObject, schema: unknown): JsonObject {
  return { ...defined({ name, description }), input_schema: isObject(schema) ? schema : { type: 'object' } }
}

type CountsWithCache = Partial<Omit<TokenCounts, 'cacheWriteHour'>>

/** For usage whose input includes cached tokens. Undefined if there is no usage. */
export function usageWithCache({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }: CountsWithCache) {
  if (input === 0) return undefined
  return { ...noTokens, input: Math.max(0, input - cacheRead - cacheWrite), output, cacheRead, cacheWrite }
}
