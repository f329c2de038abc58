// Messages of LangChain, read into ours and written back. A message that changed is a copy of the one it was read from
// with other content, so ids, artifacts, metadata and names survive. Never changes a message that was given.
import type { BaseMessage } from '@langchain/core/messages'
import { type Block, blocksOf, isToolResult, isToolUse } from '../../core/message/block.ts'
import { arrayAt, defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import { noTokens, type TokenCounts } from '../../core/message/usage.ts'
import { loadedOnce } from '../../models/sdk.ts'
import { type Converted, type Converter, isSame } from '../history/converter.ts'
import { onlyText, type ReadPart, runsOf, writeParts } from '../parts.ts'
import { blockOf, isCallPart, isSilentPart, partOf } from './parts.ts'

export type LangChainMessage = BaseMessage

/** LangChain is an optional peer. */
export function loadClasses(): () => Promise<LangChainClasses> {
  return loadedOnce('@langchain/core', () => import('@langchain/core/messages'))
}

/** Makes the messages that LangChain has none for: summaries, restored files. */
export type LangChainClasses = {
  readonly SystemMessage: new (fields: { content: never }) => BaseMessage
  readonly RemoveMessage: new (fields: { id: string }) => BaseMessage
  readonly HumanMessage: new (fields: { content: never }) => BaseMessage
  readonly AIMessage: new (fields: { content: never; tool_calls: never }) => BaseMessage
  readonly ToolMessage: new (fields: { content: never; tool_call_id: string }) => BaseMessage
}

type MessageClasses = Pick<LangChainClasses, 'HumanMessage' | 'AIMessage' | 'ToolMessage'>

/** System messages at the beginning are the system prompt; later ones become notes of the client. */
export function langChainConverter(classes: MessageClasses): Converter<BaseMessage> {
  return {
    isSystem: isInstruction,
    read: (message) => ({ ...readLangChainMessage(message), ...defined({ usage: usageOf(message) }) }),
    write: ({ role, content }, originOf) =>
      runsOf(blocksOf(content), originOf).flatMap(({ before, blocks }) =>
        writeLangChainMessage({ role, content: blocks }, classes, before),
      ),
  }
}

function isInstruction({ type }: BaseMessage): boolean {
  return type === 'system' || type === 'developer'
}

export function readLangChainMessage(message: BaseMessage): Converted {
  if (isResult(message)) return { role: 'user', content: [resultOf(message)] }
  const said = readContent(message.content).map(({ block }) => block)
  if (isAnswer(message)) return { role: 'assistant', content: [...said, ...callsOf(message).map(callBlock)] }
  return { role: 'user', content: said, ...(message.type === 'human' ? {} : { origin: 'meta' as const }) }
}

function isAnswer(message: BaseMessage): boolean {
  return message.type === 'ai' || (message.type === 'generic' && stringAt(message, 'role') === 'assistant')
}

function isResult({ type }: BaseMessage): boolean {
  return type === 'tool' || type === 'function'
}

/** Without calls, which an answer tells in `tool_calls`, and without what only its provider reads. */
function readContent(content: unknown): readonly ReadPart<unknown>[] {
  const parts = Array.isArray(content) ? content : blocksOf(content)
  return parts
    .filter((part) => !isCallPart(part) && !isSilentPart(part))
    .map((part) => ({ block: blockOf(isObject(part) ? part : { value: part }), part }))
}

function callsOf(message: BaseMessage): readonly JsonObject[] {
  return arrayAt(message, 'tool_calls').filter(isObject)
}

function callBlock(call: JsonObject): Block {
  const name = stringAt(call, 'name') ?? 'unknown'
  return { type: 'tool_use', id: stringAt(call, 'id') ?? '', name, input: call.args ?? {} }
}

function resultOf(message: BaseMessage): Block {
  const id = stringAt(message, 'tool_call_id') ?? message.name ?? ''
  const { content } = message
  const read = typeof content === 'string' ? content : readContent(content).map(({ block }) => block)
  const result = { type: 'tool_result', tool_use_id: id, content: read }
  return stringAt(message, 'status') === 'error' ? { ...result, is_error: true } : result
}

/** LangChain counts cached tokens as part of the input. */
export function usageOf(message: BaseMessage): TokenCounts | undefined {
  const usage = objectAt(message, 'usage_metadata')
  if (!usage) return undefined
  const details = objectAt(usage, 'input_token_details')
  const cacheRead = numberAt(details, 'cache_read') ?? 0
  const cacheWrite = numberAt(details, 'cache_creation') ?? 0
  const input = Math.max(0, (numberAt(usage, 'input_tokens') ?? 0) - cacheRead - cacheWrite)
  const output = numberAt(usage, 'output_tokens') ?? 0
  return input + cacheRead + cacheWrite === 0 ? undefined : { ...noTokens, input, output, cacheRead, cacheWrite }
}

/** `before` is the message that this one was read from, perhaps before it was shortened. */
export function writeLangChainMessage(
  { role, content }: Converted,
  classes: MessageClasses,
  before?: BaseMessage,
): readonly BaseMessage[] {
  if (before && isSame(readLangChainMessage(before).content, content)) return [before]
  if (role === 'assistant') return [writeAnswer(content, classes, before)]
  const results = content.filter(isToolResult).map((block) => writeResult(block, classes, before))
  const rest = content.filter((block) => !isToolResult(block))
  if (rest.length === 0 && results.length > 0) return results
  const own = before && !isResult(before) && !isAnswer(before) ? before : undefined
  const written = writeContent(rest, own?.content)
  return [...results, own ? withContent(own, written) : new classes.HumanMessage({ content: written as never })]
}

function writeAnswer(
  blocks: readonly Block[],
  { AIMessage }: MessageClasses,
  before: BaseMessage | undefined,
): BaseMessage {
  const calls = blocks.filter(isToolUse)
  const said = blocks.filter((block) => !isToolUse(block))
  if (!before) {
    const content = writeContent(said.filter(isSendable), undefined)
    const tool_calls = calls.map(({ id, name, input }) => ({ type: 'tool_call', id, name, args: input }))
    return new AIMessage({ content: content as never, tool_calls: tool_calls as never })
  }
  const inputs = new Map(calls.map(({ id, input }) => [id, input]))
  const kept = callsOf(before).filter((call) => inputs.has(stringAt(call, 'id') ?? ''))
  const tool_calls = kept.map((call) => withInput(call, 'args', inputs))
  return withContent(before, writeSaid(said, before, inputs), { tool_calls })
}

/** Providers refuse thinking without its signature. */
function isSendable(block: Block): boolean {
  return block.type !== 'thinking' || Boolean(block.signature)
}

/** Calls that the content tells as well get the same input there; what only the provider reads stays. */
function writeSaid(said: readonly Block[], before: BaseMessage, inputs: ReadonlyMap<string, unknown>): unknown {
  const { content } = before
  if (!Array.isArray(content)) return said.length === 0 ? '' : writeContent(said, content)
  const parts: readonly unknown[] = content
  const calls = parts.filter(isCallPart).filter((part) => !isDropped(part, inputs))
  return [
    ...parts.filter(isSilentPart),
    ...writeParts(said, readContent(content), (block) => [partOf(block)]),
    ...calls.map((part) => withInput(part as JsonObject, 'input', inputs)),
  ]
}

function isDropped(part: unknown, inputs: ReadonlyMap<string, unknown>): boolean {
  const id = stringAt(part, 'id')
  return id !== undefined && !inputs.has(id)
}

function withInput(call: JsonObject, key: 'args' | 'input', inputs: ReadonlyMap<string, unknown>): JsonObject {
  const id = stringAt(call, 'id') ?? ''
  const isChanged = inputs.has(id) && key in call && !isSame(call[key], inputs.get(id))
  return isChanged ? { ...call, [key]: inputs.get(id) } : call
}

function writeResult(block: Block, { ToolMessage }: MessageClasses, before: BaseMessage | undefined): BaseMessage {
  const { content = '', tool_use_id: id } = block
  const own = before && isResult(before) && resultOf(before).tool_use_id === id ? before : undefined
  const written = typeof content === 'string' ? content : writeContent(blocksOf(content), own?.content ?? [])
  if (own) return withContent(own, written)
  return new ToolMessage({ content: written as never, tool_call_id: String(id) })
}

/** One text alone is a string unless it was a list before. */
function writeContent(blocks: readonly Block[], before: unknown): unknown {
  if (Array.isArray(before)) return writeParts(blocks, readContent(before), (block) => [partOf(block)])
  return onlyText(blocks) ?? blocks.map(partOf)
}

/** A copy of the same class. `lc_kwargs` is what LangChain serializes. */
export function withContent(message: BaseMessage, content: unknown, fields: JsonObject = {}): BaseMessage {
  const copy: BaseMessage = Object.create(Object.getPrototypeOf(message))
  const kwargs = objectAt(message, 'lc_kwargs')
  const changed = { content, ...fields }
  return Object.assign(copy, message, changed, kwargs ? { lc_kwargs: { ...kwargs, ...changed } } : {})
}
