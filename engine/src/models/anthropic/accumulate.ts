// Builds one answer from the events of a Messages API stream. Keeps unknown blocks and fields unchanged. Later usage overwrites
// earlier usage and is never added; a later null erases nothing.

import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import { type Block, isBlock, isText } from '../../core/message/message.ts'
import { noTokens, readUsage } from '../../core/message/usage.ts'
import type { ModelAnswer } from '../../core/ports/model.ts'
import { type Accumulator, BrokenStream, type Delta } from '../stream.ts'

type Writable = Record<string, unknown>
type OpenBlock = { readonly fields: Writable; json: string; isOpen: boolean }

/** Fields with their own place in an answer. The rest of the message is `extra`. */
const ownFields = new Set(['type', 'role', 'id', 'model', 'content', 'stop_reason', 'usage'])

export class MessageAccumulator implements Accumulator {
  private message: Writable | undefined
  private isStopped = false
  private readonly blocks = new Map<number, OpenBlock>()
  private readonly usage: Writable = {}
  /** Incomplete tool inputs, by the block's id. */
  private readonly unread: Writable = {}

  isComplete(): boolean {
    return this.isStopped
  }

  add(event: unknown): Delta | undefined {
    if (!isObject(event)) return undefined
    switch (event.type) {
      case 'message_start':
        return this.start(objectAt(event, 'message') ?? {})
      case 'content_block_start':
        return this.startBlock(event)
      case 'content_block_delta':
        return addDelta(this.openBlock(event), objectAt(event, 'delta') ?? {})
      case 'content_block_stop':
        return this.stopBlock(this.openBlock(event))
      case 'message_delta': {
        const { type: _, delta, usage, ...beside } = event
        this.message ??= {}
        overwrite(this.message, delta)
        overwrite(this.message, beside)
        overwrite(this.usage, usage)
        return undefined
      }
      case 'message_stop':
        this.isStopped = true
        return undefined
      case 'message':
        return this.whole(event)
      default:
        return undefined
    }
  }

  answer(): ModelAnswer {
    const { message, usage, unread } = this
    if (message === undefined || !this.isStopped) throw new BrokenStream('the stream ended before the answer did')
    const blocks = [...this.blocks].toSorted(([a], [b]) => a - b).map(([, block]) => block)
    if (blocks.some(({ isOpen }) => isOpen)) throw new BrokenStream('the stream ended inside a block')
    const extra = Object.entries(message).filter(([key, value]) => !ownFields.has(key) && value !== null)
    const hasUnread = Object.keys(unread).length > 0
    return {
      type: 'answer',
      id: stringAt(message, 'id') ?? '',
      model: stringAt(message, 'model') ?? '',
      content: blocks.map(({ fields }) => fields as Block),
      stopReason: stringAt(message, 'stop_reason') ?? 'end_turn',
      usage: readUsage(usage) ?? noTokens,
      extra: { ...Object.fromEntries(extra), ...(hasUnread ? { unread_inputs: unread } : {}), usage },
    }
  }

  private start(message: JsonObject): undefined {
    if (this.message !== undefined) throw new BrokenStream('the stream began twice')
    this.message = { ...message }
    overwrite(this.usage, message.usage)
  }

  /** For a server that does not stream. */
  private whole(message: JsonObject): Delta {
    this.start(message)
    const blocks = arrayAt(message, 'content').filter(isBlock)
    for (const [at, fields] of blocks.entries()) this.blocks.set(at, { fields: { ...fields }, json: '', isOpen: false })
    this.isStopped = true
    const texts = blocks.filter(isText).map(({ text }) => text)
    return { type: 'text', text: texts.join('') }
  }

  private startBlock(event: JsonObject): Delta | undefined {
    const index = numberAt(event, 'index') ?? this.blocks.size
    const block = objectAt(event, 'content_block') ?? {}
    if (this.blocks.has(index)) throw new BrokenStream(`block ${index} began twice`)
    if (typeof block.type !== 'string') throw new BrokenStream(`block ${index} has no type`)
    this.blocks.set(index, { fields: structuredClone(block) as Writable, json: '', isOpen: true })
    // Text may already be in the start of its block.
    const { type } = block
    return type === 'text' || type === 'thinking' ? { type, text: stringAt(block, type) ?? '' } : undefined
  }

  private openBlock(event: JsonObject): OpenBlock {
    const index = numberAt(event, 'index') ?? -1
    const block = this.blocks.get(index)
    if (block?.isOpen !== true) throw new BrokenStream(`something came for block ${index}, which is not open`)
    return block
  }

  /** An input that is not JSON was cut off together with the answer. The block stays valid, and the text is not lost. */
  private stopBlock(block: OpenBlock): undefined {
    block.isOpen = false
    if (block.json === '') return
    try {
      block.fields.input = JSON.parse(block.json)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      this.unread[String(block.fields.id)] = block.json
    }
  }
}

function addDelta(block: OpenBlock, delta: JsonObject): Delta | undefined {
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
      // signature_delta, compaction_delta, and future types: copies each field byte for byte.
      const { type: _, ...rest } = delta
      overwrite(fields, rest)
      return delta.type === 'compaction_delta' ? { type: 'json', text: stringAt(delta, 'content') ?? '' } : undefined
    }
  }
}

/** A null erases nothing. */
function overwrite(target: Writable, source: unknown): void {
  for (const [key, value] of Object.entries(isObject(source) ? source : {})) {
    if (key !== '__proto__' && value !== null && value !== undefined) target[key] = value
  }
}
