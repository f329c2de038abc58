// Converts items of the Responses API and of the OpenAI Agents SDK, which differ in the spelling of a few fields, to ours and
// back. The items of one answer (reasoning, text, calls) are one message of ours. An unchanged item is returned as the same
// object, with its id and its encrypted reasoning.

import { documentAt, imageAt, inputOf } from '../../core/message/chat-completions.ts'
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import { type Block, blocksOf, isText, isThinking, isToolUse, textOf } from '../../core/message/message.ts'
import { type Converted, type Converter, isSame, type OriginOf } from '../history/converter.ts'
import { describedPart, type ReadPart, readParts, textBlock, urlOf, wordsOf, writeParts, writeRuns } from '../parts.ts'

/** The spelling: of the Responses API, or of the OpenAI Agents SDK. */
export type Dialect = 'responses' | 'agents'

/** The items of one answer, or one item of the user's side. */
export type ItemGroup<Item extends object = object> = readonly Item[]

export function groupItems<Item extends object>(items: readonly Item[]): readonly ItemGroup<Item>[] {
  const groups: Item[][] = []
  let isOpen = false
  for (const item of items) {
    const isAnswer = isOfAnswer(item as JsonObject)
    if (isAnswer && isOpen) groups.at(-1)?.push(item)
    else groups.push([item])
    isOpen = isAnswer
  }
  return groups
}

/** System and developer messages at the beginning are the system prompt; later ones become notes of the client. */
export function itemConverter<Item extends object>(dialect: Dialect): Converter<ItemGroup<Item>> {
  return {
    isSystem: isInstruction,
    read: readItems,
    write: (message, originOf) => {
      const items = writeRuns<readonly JsonObject[]>(message, originOf as OriginOf<readonly JsonObject[]>, {
        answer: (blocks, before = []) => [writeAnswer(blocks, before, dialect)],
        result: (block, before = []) => [[writeResult(block, before, dialect)]],
        said: (blocks, before = []) => [[writeUser(blocks, before, dialect)]],
      })
      return groupItems(items.flat() as readonly object[] as readonly Item[])
    },
  }
}

function isInstruction([first = {}]: ItemGroup): boolean {
  const { role } = first as JsonObject
  return role === 'system' || role === 'developer'
}

function isOfAnswer(item: JsonObject): boolean {
  return isMessage(item) ? item.role === 'assistant' : !isOutput(item)
}

function isMessage({ type, role }: JsonObject): boolean {
  return type === 'message' || (type === undefined && typeof role === 'string')
}

/** `function_call_output`, `function_call_result`, `shell_call_output` … */
function isOutput(item: JsonObject): boolean {
  return callIdOf(item) !== undefined && /_(output|result)$/.test(String(item.type))
}

function callIdOf(item: JsonObject): string | undefined {
  return stringAt(item, 'call_id') ?? stringAt(item, 'callId')
}

/** An item, and the part of its content that a block was read from. */
type Place = { readonly item: JsonObject; readonly part?: unknown; readonly changed?: JsonObject }

function readItems(group: ItemGroup): Converted {
  const items = group as readonly JsonObject[]
  const [first = {}] = items
  if (isOfAnswer(first)) return { role: 'assistant', content: readAnswer(items).map(({ block }) => block) }
  if (isOutput(first)) return { role: 'user', content: [resultOf(first)] }
  const content = readContent(first.content).map(({ block }) => block)
  return { role: 'user', content, ...(first.role === 'user' ? {} : { origin: 'meta' as const }) }
}

/**
 * Reasoning is not a block of ours. It always stays with the items after it, because the API refuses a call without its
 * reasoning. If it is alone, it is described.
 */
function readAnswer(items: readonly JsonObject[]): readonly ReadPart<Place>[] {
  const read = items.flatMap(readAnswerItem)
  if (read.length > 0) return read
  return items.map((item) => ({ block: describedPart(String(item.type), item), part: { item } }))
}

function readAnswerItem(item: JsonObject): readonly ReadPart<Place>[] {
  if (isSilent(item)) return []
  if (!isMessage(item)) return [{ block: answerBlock(item), part: { item } }]
  return readContent(item.content).map(({ block, part }) => ({ block, part: { item, part } }))
}

function isSilent(item: JsonObject): boolean {
  return item.type === 'reasoning' || (isMessage(item) && readContent(item.content).length === 0)
}

function answerBlock(item: JsonObject): Block {
  const id = callIdOf(item)
  const type = String(item.type)
  if (id === undefined || !type.endsWith('_call')) return describedPart(type, item)
  return { type: 'tool_use', id, name: stringAt(item, 'name') ?? type.replace(/_call$/, ''), input: inputIn(item) }
}

/** The whole item for a call that is not a function. */
function inputIn(item: JsonObject): JsonObject {
  const words = stringAt(item, 'arguments')
  if (words !== undefined) return inputOf(words)
  return Object.fromEntries(Object.entries(item).filter(([key]) => !ownFields.has(key)))
}

const ownFields = new Set(['type', 'id', 'call_id', 'callId', 'name', 'status', 'providerData'])

function resultOf(item: JsonObject): Block {
  const { output } = item
  const read = () => readContent(Array.isArray(output) ? output : [output]).map(({ block }) => block)
  const content = typeof output === 'string' ? output : read()
  return { type: 'tool_result', tool_use_id: callIdOf(item) ?? '', content }
}

function readContent(content: unknown): readonly ReadPart<unknown>[] {
  return readParts(content, blockOf)
}

const textTypes = new Set(['text', 'input_text', 'output_text', 'refusal'])
const address = /^(https?|data):/

function blockOf(part: JsonObject): Block {
  const type = String(part.type)
  const text = stringAt(part, 'text') ?? stringAt(part, 'refusal')
  if (textTypes.has(type) && text !== undefined) return textBlock(text)
  if (type === 'input_image' || type === 'image') {
    const url = stringAt(part, 'image_url') ?? stringAt(part, 'image') ?? stringAt(objectAt(part, 'image'), 'url')
    if (url !== undefined && address.test(url)) return imageAt(url)
  }
  if (type === 'input_file' || type === 'file') {
    const file = stringAt(part, 'file') ?? stringAt(objectAt(part, 'file'), 'url')
    const url = stringAt(part, 'file_data') ?? stringAt(part, 'file_url') ?? file
    const document = url && address.test(url) ? documentAt(url, stringAt(part, 'filename')) : undefined
    if (document) return document
  }
  return describedPart(type, part)
}

function writeUser(blocks: readonly Block[], before: readonly JsonObject[], dialect: Dialect): JsonObject {
  const own = before.find((item) => isMessage(item) && item.role !== 'assistant')
  const read = readContent(own?.content)
  const isUnchanged = isSame(
    read.map(({ block }) => block),
    blocks,
  )
  if (own && isUnchanged) return own
  const parts = typeof own?.content === 'string' ? [] : read
  const content = writeParts(blocks, parts, (block) => makePart(block, 'input', dialect))
  return { ...(own ?? { type: 'message', role: 'user' }), content }
}

function writeResult(block: Block, before: readonly JsonObject[], dialect: Dialect): JsonObject {
  const own = before.find((item) => isOutput(item) && callIdOf(item) === block.tool_use_id)
  return own && isSame(resultOf(own), block) ? own : makeResult(block, own, dialect)
}

function writeAnswer(blocks: readonly Block[], before: readonly JsonObject[], dialect: Dialect): readonly JsonObject[] {
  const places = writeParts<Place>(blocks, readAnswer(before), (block, was) => {
    if (was) return [{ item: was.item, changed: withInput(was.item, block.input) }]
    return isThinking(block) ? [] : makeItem(block, dialect).map((item) => ({ item }))
  })
  const kept = before.flatMap((item) => {
    const own = places.filter((place) => place.item === item)
    return own.length > 0 ? [joined(item, own)] : isSilent(item) ? [item] : []
  })
  const made = places.filter(({ item }) => !before.includes(item)).map(({ item }) => item)
  return [...kept, ...made]
}

/** The same item if none of its parts changed. */
function joined(item: JsonObject, places: readonly Place[]): JsonObject {
  const changed = places.find((place) => place.changed)?.changed
  if (changed) return changed
  const was = arrayAt(item, 'content')
  // Without a part, the block describes the whole item.
  const isDescribed = places.every(({ part }) => part === undefined)
  const isWhole = isDescribed || (was.length === places.length && was.every((part, at) => part === places[at]?.part))
  if (isWhole || !isMessage(item) || typeof item.content === 'string') return item
  return { ...item, content: places.map(({ part }) => part) }
}

/** A block of an answer that was in no item before. */
function makeItem(block: Block, dialect: Dialect): readonly JsonObject[] {
  if (!isToolUse(block)) {
    const content = makePart(block, 'output', dialect)
    return [{ type: 'message', role: 'assistant', status: 'completed', content }]
  }
  const { id, name, input } = block
  const call = { type: 'function_call', name, arguments: wordsOf(input), status: 'completed' }
  return [dialect === 'agents' ? { ...call, callId: id } : { ...call, call_id: id }]
}

/** A call with another input. Calls that are not functions have their input in other fields. */
function withInput(item: JsonObject, input: unknown): JsonObject {
  if (typeof item.arguments === 'string') return { ...item, arguments: wordsOf(input) }
  return isObject(input) ? { ...item, ...input } : item
}

/** A result with the output of this block. Only text and images, because tools return nothing else here. */
function makeResult(block: Block, before: JsonObject | undefined, dialect: Dialect): JsonObject {
  const { content, tool_use_id: id } = block
  const output =
    typeof content === 'string' ? content : blocksOf(content).flatMap((part) => makePart(part, 'input', dialect))
  if (before) return { ...before, output: fittingOutput(output, before.output) }
  if (dialect === 'responses') return { type: 'function_call_output', call_id: id, output }
  return { type: 'function_call_result', callId: id, name: 'unknown', status: 'completed', output }
}

/** The Agents SDK writes a text as an object; other kinds of calls have their own lists. */
function fittingOutput(output: unknown, before: unknown): unknown {
  if (typeof output !== 'string' || !isObject(before) || before.type !== 'text') return output
  return { ...before, text: output }
}

function makePart(block: Block, side: 'input' | 'output', dialect: Dialect): readonly JsonObject[] {
  if (isText(block)) return [{ type: `${side}_text`, text: block.text }]
  const url = urlOf(block)
  if (url !== undefined && side === 'input') {
    if (block.type === 'image') {
      return [{ type: 'input_image', ...(dialect === 'agents' ? { image: url } : { image_url: url, detail: 'auto' }) }]
    }
    const filename = stringAt(block, 'title') ?? 'document.pdf'
    const isData = url.startsWith('data:')
    if (dialect === 'agents') return [{ type: 'input_file', file: isData ? url : { url }, filename }]
    return [{ type: 'input_file', ...(isData ? { file_data: url, filename } : { file_url: url }) }]
  }
  return [{ type: `${side}_text`, text: textOf([block]) || `[${block.type}]` }]
}
