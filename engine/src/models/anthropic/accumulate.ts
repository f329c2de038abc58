// The events of a Messages API stream become one answer. Blocks and fields that nobody here has heard of are kept as they
// came. Usage of later events overwrites, it is never added; a later null erases nothing.
import { type Block, isBlock, isText } from '../../core/message/block.ts'
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import { noTokens, readUsage } from '../../core/message/usage.ts'
import type { ModelAnswer } from '../../core/ports/model.ts'
import { type Accumulator, BrokenStream, type Piece } from '../stream.ts'

type Writable = Record<string, unknown>
type OpenBlock = { readonly fields: Writable; json: string; isOpen: boolean }
type State = ReturnType<typeof newState>

function newState() {
  return {
    message: undefined as Writable | undefined,
    isComplete: false,
    blocks: new Map<number, OpenBlock>(),
    usage: {} as Writable,
    /** Tool inputs that were cut off in the middle, by the block's id. */
    unread: {} as Writable,
  }
}

/** What an answer has of its own; the rest of the message is `extra`. */
const ownFields = new Set(['type', 'role', 'id', 'model', 'content', 'stop_reason', 'usage'])

export function createAccumulator(): Accumulator {
  const state = newState()
  return {
    add: (event) => (isObject(event) ? addEvent(state, event) : undefined),
    isComplete: () => state.isComplete,
    answer: () => answerOf(state),
  }
}

function addEvent(state: State, event: JsonObject): Piece | undefined {
  switch (event.type) {
    case 'message_start':
      return start(state, objectAt(event, 'message') ?? {})
    case 'content_block_start':
      return startBlock(state, event)
    case 'content_block_delta':
      return addDelta(openBlock(state, event), objectAt(event, 'delta') ?? {})
    case 'content_block_stop':
      return stopBlock(state, openBlock(state, event))
    case 'message_delta': {
      const { type: _, delta, usage, ...beside } = event
      state.message ??= {}
      overwrite(state.message, delta)
      overwrite(state.message, beside)
      overwrite(state.usage, usage)
      return undefined
    }
    case 'message_stop':
      state.isComplete = true
      return undefined
    case 'message': {
      // From a server that does not stream.
      start(state, event)
      const blocks = arrayAt(event, 'content').filter(isBlock)
      for (const [index, fields] of blocks.entries())
        state.blocks.set(index, { fields: { ...fields }, json: '', isOpen: false })
      state.isComplete = true
      const texts = blocks.filter(isText).map(({ text }) => text)
      return { type: 'text', text: texts.join('') }
    }
    default:
      return undefined
  }
}

function start(state: State, message: JsonObject): undefined {
  if (state.message !== undefined) throw new BrokenStream('the stream began twice')
  state.message = { ...message }
  overwrite(state.usage, message.usage)
}

function startBlock(state: State, event: JsonObject): Piece | undefined {
  const index = numberAt(event, 'index') ?? state.blocks.size
  const block = objectAt(event, 'content_block') ?? {}
  if (state.blocks.has(index)) throw new BrokenStream(`block ${index} began twice`)
  if (typeof block.type !== 'string') throw new BrokenStream(`block ${index} has no type`)
  state.blocks.set(index, { fields: structuredClone(block) as Writable, json: '', isOpen: true })
  // Text may come with the start of its block.
  const { type } = block
  return type === 'text' || type === 'thinking' ? { type, text: stringAt(block, type) ?? '' } : undefined
}

function openBlock(state: State, event: JsonObject): OpenBlock {
  const index = numberAt(event, 'index') ?? -1
  const block = state.blocks.get(index)
  if (block?.isOpen !== true) throw new BrokenStream(`something came for block ${index}, which is not open`)
  return block
}

function addDelta(block: OpenBlock, delta: JsonObject): Piece | undefined {
  const { fields } = block
  switch (delta.type) {
    case 'text_delta':
    case 'thinking_delta': {
      const type = delta.type === 'text_delta' ? 'text' : 'thinking'
      const text = stringAt(delta, type) ?? ''
      fields[type] = `${stringAt(fields, type) ?? ''}${text}`
      return { type, text }
    }
    case 'input_json_delta': {
      const text = stringAt(delta, 'partial_json') ?? ''
      block.json += text
      return { type: 'json', text }
    }
    case 'citations_delta':
      fields.citations = [...(Array.isArray(fields.citations) ? fields.citations : []), delta.citation]
      return undefined
    default: {
      // signature_delta, compaction_delta, and whatever comes next: each field as it stands, byte for byte.
      const { type: _, ...rest } = delta
      overwrite(fields, rest)
      return delta.type === 'compaction_delta' ? { type: 'json', text: stringAt(delta, 'content') ?? '' } : undefined
    }
  }
}

/** An input that is no JSON was cut off with the answer: the block stays sendable, the text is not lost. */
function stopBlock(state: State, block: OpenBlock): undefined {
  block.isOpen = false
  if (block.json === '') return
  try {
    block.fields.input = JSON.parse(block.json)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    state.unread[String(block.fields.id)] = block.json
  }
}

/** A null erases nothing. */
function overwrite(target: Writable, source: unknown): void {
  for (const [key, value] of Object.entries(isObject(source) ? source : {})) {
    if (key !== '__proto__' && value !== null && value !== undefined) target[key] = value
  }
}

function answerOf(state: State): ModelAnswer {
  const { message } = state
  if (message === undefined || !state.isComplete) throw new BrokenStream('the stream ended before the answer did')
  const blocks = [...state.blocks].toSorted(([a], [b]) => a - b).map(([, block]) => block)
  if (blocks.some(({ isOpen }) => isOpen)) throw new BrokenStream('the stream ended inside a block')
  const extra = Object.entries(message).filter(([key, value]) => !ownFields.has(key) && value !== null)
  const hasUnread = Object.keys(state.unread).length > 0
  return {
    type: 'answer',
    id: stringAt(message, 'id') ?? '',
    model: stringAt(message, 'model') ?? '',
    content: blocks.map(({ fields }) => fields as Block),
    stopReason: stringAt(message, 'stop_reason') ?? 'end_turn',
    usage: readUsage(state.usage) ?? noTokens,
    extra: { ...Object.fromEntries(extra), ...(hasUnread ? { unread_inputs: state.unread } : {}), usage: state.usage },
  }
}
