// The records of the main conversation as a numbered list of items, across all compactions, in the order of the file. Texts are cut
// for the list and whole for a single item.
import type { Entry } from 'everlong'
import {
  blocksOf,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type JsonObject,
  messageOf,
  objectAt,
  originOf,
  readBoundary,
  readEdit,
  stringAt,
  textOf,
  type ViewMessage,
} from 'everlong/internal'
import type { Transcript } from 'everlong/internal/compaction'
import { createWeigher } from 'everlong/internal/compaction'
import { type Found, type FoundItems, type Item, type ItemBlock, itemLetters } from './api.ts'

export type Conversation = {
  readonly count: number
  readonly types: () => string
  /** The first item of each epoch. */
  readonly epochs: readonly number[]
  readonly entry: (index: number) => Entry | undefined
  readonly indexOf: (uuid: string) => number | undefined
  /** The item with this call. */
  readonly callAt: (callId: string) => number | null
  readonly page: (from: number, count: number) => readonly Item[]
  readonly whole: (index: number) => Item | undefined
  readonly find: (words: string, limit: number) => FoundItems
}

/** About a screenful. */
const shownCharacters = 3_000

export function createConversation(transcript: Pick<Transcript, 'entries' | 'view'>): Conversation {
  const { entries, places, epochs } = itemsIn(transcript.entries)
  const live = new Set(transcript.view.sources.flatMap(({ uuids }) => uuids))
  const model = entries.findLast(({ record }) => modelIn(record) !== undefined)
  const weigher = createWeigher({ model: model && modelIn(model.record) })
  const tools = callsIn(entries)
  const epochOf = (index: number) => epochs.findLastIndex((first) => first <= index)
  const itemAt = (index: number, maxCharacters: number): readonly Item[] => {
    const entry = entries[index]
    if (entry === undefined) return []
    const { record, position } = entry
    const message = messageOf(record)
    const uuid = typeof record.uuid === 'string' ? record.uuid : null
    const epoch = epochOf(index)
    return [
      {
        ...{ index, uuid, line: position.line, time: timeOf(record), epoch, type: typeOf(record) },
        blocks: blocksFor(record, message, tools).map((block) => cutBlock(block, maxCharacters)),
        tokens: message ? Math.round(weigher.message(message)) : 0,
        model: modelIn(record) ?? null,
        isLive: uuid !== null && live.has(uuid),
        compaction: readBoundary(record) ? epoch : null,
      },
    ]
  }
  return {
    count: entries.length,
    types: () => entries.map(({ record }) => itemLetters[typeOf(record)]).join(''),
    epochs,
    entry: (index) => entries[index],
    indexOf: (uuid) => places.get(uuid),
    callAt: (callId) => tools.get(callId)?.item ?? null,
    page: (from, count) => {
      const wanted = Math.max(0, Math.min(count, entries.length - from))
      return Array.from({ length: wanted }, (_, offset) => itemAt(from + offset, shownCharacters)).flat()
    },
    whole: (index) => itemAt(index, Number.POSITIVE_INFINITY)[0],
    find: (words, limit) => findIn(entries, { words, limit, tools }),
  }
}

/** The main conversation, or the sub-agent's in a file without another. */
function itemsIn(all: readonly Entry[]) {
  const isMain = ({ record }: Entry) => record.isSidechain !== true
  const hasMain = all.some((entry) => isMain(entry) && isItem(entry.record))
  const entries: Entry[] = []
  const places = new Map<string, number>()
  const epochs = [0]
  for (const entry of all) {
    const { record } = entry
    if ((hasMain && !isMain(entry)) || !isItem(record)) continue
    const uuid = typeof record.uuid === 'string' ? record.uuid : undefined
    // If a line was written twice, the first counts.
    if (uuid !== undefined && places.has(uuid)) continue
    if (uuid !== undefined) places.set(uuid, entries.length)
    if (readBoundary(record)) epochs.push(entries.length)
    entries.push(entry)
  }
  return { entries, places, epochs }
}

/** Context that only the client uses is not an item. */
function isItem(record: JsonObject): boolean {
  const isShown = record.type !== 'attachment' || messageOf(record) !== undefined
  if (originOf(record) !== undefined) return isShown
  return readBoundary(record) !== undefined || readEdit(record) !== undefined
}

function typeOf(record: JsonObject): Item['type'] {
  if (readBoundary(record)) return 'compaction'
  if (readEdit(record)) return 'edit'
  // An answer that the client made up. No model wrote or sees it.
  if (messageOf(record) === undefined) return 'note'
  const origin = originOf(record)
  if (origin === 'human') return 'user'
  return origin === 'tool-result' ? 'result' : (origin ?? 'note')
}

export function timeOf({ timestamp }: JsonObject): number | null {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(time) ? null : time
}

function modelIn(record: JsonObject): string | undefined {
  const model = stringAt(objectAt(record, 'message'), 'model')
  return model === '<synthetic>' ? undefined : model
}

type Calls = ReadonlyMap<string, { readonly name: string; readonly item: number }>

function callsIn(entries: readonly Entry[]): Calls {
  const calls = new Map<string, { readonly name: string; readonly item: number }>()
  for (const [item, { record }] of entries.entries()) {
    if (record.type !== 'assistant') continue
    for (const block of blocksOf(objectAt(record, 'message')?.content))
      if (isToolUse(block)) calls.set(block.id, { name: block.name, item })
  }
  return calls
}

type WholeBlock = Omit<ItemBlock, 'isCut' | 'length'>

const plain = { tool: null, callId: null, isError: false }

function blocksFor(record: JsonObject, message: ViewMessage | undefined, tools: Calls): readonly WholeBlock[] {
  const boundary = readBoundary(record)
  if (boundary) return [{ ...plain, type: 'text', text: typeof record.content === 'string' ? record.content : '' }]
  const edit = readEdit(record)
  if (edit) return [{ ...plain, type: 'other', text: JSON.stringify(edit, null, 2) }]
  const content = message?.content ?? objectAt(record, 'message')?.content
  return blocksOf(content).map((block): WholeBlock => {
    if (isText(block)) return { ...plain, type: 'text', text: block.text }
    if (isThinking(block)) return { ...plain, type: 'thinking', text: String(block.thinking ?? '') }
    if (isToolUse(block)) {
      return { ...plain, type: 'call', text: inputText(block.input), tool: block.name, callId: block.id }
    }
    if (isToolResult(block)) {
      const tool = tools.get(block.tool_use_id)?.name ?? null
      const isError = block.is_error === true
      return { type: 'result', text: resultText(block.content), tool, callId: block.tool_use_id, isError }
    }
    if (block.type === 'image') return { ...plain, type: 'image', text: '' }
    return { ...plain, type: 'other', text: JSON.stringify(block, null, 2) }
  })
}

function inputText(input: unknown): string {
  if (typeof input === 'string') return input
  return JSON.stringify(input, null, 2) ?? ''
}

function resultText(content: unknown): string {
  const images = blocksOf(content).filter(({ type }) => type === 'image').length
  return [textOf(content), ...(images > 0 ? [`[${images === 1 ? 'image' : `${images} images`}]`] : [])]
    .filter((part) => part !== '')
    .join('\n')
}

function cutBlock(block: WholeBlock, maxCharacters: number): ItemBlock {
  const { text } = block
  const isCut = text.length > maxCharacters
  return { ...block, text: isCut ? text.slice(0, maxCharacters) : text, length: text.length, isCut }
}

/** Characters before and after a match in its snippet. */
const around = 60

type Search = {
  readonly words: string
  readonly limit: number
  readonly tools: Calls
}

/** The first items that contain these words exactly, ignoring case. */
function findIn(entries: readonly Entry[], { words, limit, tools }: Search): FoundItems {
  const wanted = words.toLowerCase()
  const found: Found[] = []
  if (wanted.trim() === '') return { found, isComplete: true }
  for (const [item, { record }] of entries.entries()) {
    const message = messageOf(record)
    for (const { text, tool } of blocksFor(record, message, tools)) {
      const whole = tool === null ? text : `${tool} ${text}`
      const at = whole.toLowerCase().indexOf(wanted)
      if (at < 0) continue
      if (found.length === limit) return { found, isComplete: false }
      found.push({ item, snippet: whole.slice(Math.max(0, at - around), at + wanted.length + around) })
      break
    }
  }
  return { found, isComplete: true }
}
