// Items of the Responses API and of the OpenAI Agents SDK, which differ in the spelling of a few fields, read into ours and
// written back. The items of one answer (reasoning, text, calls) are one message of ours. What did not change comes back
// as the very item, with its id and its encrypted reasoning.
import { type Block, blocksOf, isThinking, isToolResult } from '../../core/message/block.ts'
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import { type Converted, type Converter, isSame } from '../history/converter.ts'
import { describedPart, documentAt, imageAt, inputOf, type ReadPart, runsOf, textBlock, writeParts } from '../parts.ts'
import { type Dialect, makeItem, makePart, makeResult, withInput } from './make-items.ts'

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
    write: ({ role, content }, originOf) => {
      const runs = runsOf(blocksOf(content), originOf)
      const items = runs.flatMap(({ before, blocks }) => writeItems({ role, content: blocks }, { dialect, before }))
      return groupItems(items as readonly object[] as readonly Item[])
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

/** An item, and which part of its content a block was read from. */
type Place = { readonly item: JsonObject; readonly part?: unknown; readonly changed?: JsonObject }

export function readItems(group: ItemGroup): Converted {
  const items = group as readonly JsonObject[]
  const [first = {}] = items
  if (isOfAnswer(first)) return { role: 'assistant', content: readAnswer(items).map(({ block }) => block) }
  if (isOutput(first)) return { role: 'user', content: [resultOf(first)] }
  const content = readContent(first.content).map(({ block }) => block)
  return { role: 'user', content, ...(first.role === 'user' ? {} : { origin: 'meta' as const }) }
}

/**
 * Reasoning is no block of ours: it stays with the items that follow it, whatever becomes of them, since the API refuses
 * a call without the reasoning it was made with. Alone, it is described.
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

/** Of a call that is no function, everything it says. */
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
  const parts = Array.isArray(content) ? content : blocksOf(content)
  return parts.map((part) => ({ block: blockOf(isObject(part) ? part : { value: part }), part }))
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

export type WriteItems = {
  readonly dialect: Dialect
  /** The items that the message was read from, perhaps before it was shortened. */
  readonly before?: ItemGroup | undefined
}

export function writeItems({ role, content }: Converted, { dialect, before = [] }: WriteItems): readonly JsonObject[] {
  const was = before as readonly JsonObject[]
  if (role === 'assistant') return writeAnswer(content, was, dialect)
  const results = content.filter(isToolResult).map((block) => writeResult(block, was, dialect))
  const rest = content.filter((block) => !isToolResult(block))
  if (rest.length === 0 && results.length > 0) return results
  return [...results, writeUser(rest, was, dialect)]
}

function writeUser(blocks: readonly Block[], before: readonly JsonObject[], dialect: Dialect): JsonObject {
  const own = before.find((item) => isMessage(item) && item.role !== 'assistant')
  const read = readContent(own?.content)
  if (
    own &&
    isSame(
      read.map(({ block }) => block),
      blocks,
    )
  )
    return own
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

/** The very item where none of its parts changed. */
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
