// What the converters share: content read from another shape and written back. A block that still says the same comes back
// as the very part it was read from, so that fields we know nothing of survive.
import { type Block, isToolResult, isToolUse } from '../core/message/block.ts'
import { isObject, type JsonObject, objectAt, parseObject, stringAt } from '../core/message/json.ts'
import { headOf } from '../core/text/cut.ts'
import { isSame, type OriginOf } from './history/converter.ts'

/** A block of ours, and the part of the foreign message it was read from. */
export type ReadPart<Part> = { readonly block: Block; readonly part: Part }

export type MakeParts<Part> = (block: Block, before: Part | undefined) => readonly Part[]

/** `make` gets a block that is new or changed, with the part that held it before: the call or result of the same id. */
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

/** Blocks of one message that belong together in the SDK: they came from the same message there, or from none. */
export type Run<Foreign> = { readonly before: Foreign | undefined; readonly blocks: readonly Block[] }

/** Results stand alone: in every SDK here a result is a message or an item of its own. */
export function runsOf<Foreign>(blocks: readonly Block[], originOf: OriginOf<Foreign>): readonly Run<Foreign>[] {
  const runs: { readonly before: Foreign | undefined; readonly blocks: Block[] }[] = []
  for (const block of blocks) {
    const before = originOf(block)
    const last = runs.at(-1)
    const isAlone = isToolResult(block) || last?.blocks.some(isToolResult)
    if (last && last.before === before && !isAlone) last.blocks.push(block)
    else runs.push({ before, blocks: [block] })
  }
  return runs
}

export function textBlock(text: string): Block {
  return { type: 'text', text }
}

/** The text of content that is one text and nothing else. */
export function onlyText(blocks: readonly Block[]): string | undefined {
  const [only] = blocks
  return blocks.length === 1 && only?.type === 'text' ? stringAt(only, 'text') : undefined
}

/** What no API of ours knows, said in words: a summary can mention it, and it counts for the size. */
export function describedPart(type: string, value: unknown): Block {
  return textBlock(`[${type}] ${headOf(JSON.stringify(value) ?? '', longestDescription)}`)
}

const longestDescription = 2_000

/** An image at an address, or in a data URL. */
export function imageAt(url: string): Block {
  return { type: 'image', source: sourceAt(url) }
}

/** The Messages API reads PDFs only; undefined for the data of any other file. */
export function documentAt(url: string, title: string | undefined): Block | undefined {
  const source = sourceAt(url)
  if ('media_type' in source && source.media_type !== 'application/pdf') return undefined
  return { type: 'document', source, ...(title === undefined ? {} : { title }) }
}

function sourceAt(url: string): JsonObject {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data }
}

/** The address of an image or a document, a data URL if it has none; undefined when it has neither. */
export function urlOf(block: Block): string | undefined {
  const source = objectAt(block, 'source')
  const data = stringAt(source, 'data')
  if (source?.type !== 'base64' || data === undefined) return stringAt(source, 'url')
  return `data:${stringAt(source, 'media_type') ?? 'application/octet-stream'};base64,${data}`
}

/** The arguments of a call as an object; the text itself where it is no JSON object. */
export function inputOf(words: string): JsonObject {
  return parseObject(words) ?? { arguments: words }
}

/** The inverse of `inputOf`. */
export function wordsOf(input: unknown): string {
  const only = isObject(input) && Object.keys(input).length === 1 ? stringAt(input, 'arguments') : undefined
  return only !== undefined && isSame(inputOf(only), input) ? only : JSON.stringify(input ?? {})
}
