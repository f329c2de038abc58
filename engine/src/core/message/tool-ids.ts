// Calls as the Messages API takes them. Other providers allow more: ids such as `functions.Read:0` or `call_a|fc_b`,
// inputs that are no objects, calls without a name. Only the request is changed; the transcript keeps the original.
import { type Block, blocksOf, isToolResult, isToolUse, type ToolUseBlock } from './block.ts'
import { isObject } from './json.ts'
import type { Message } from './message.ts'

const legalId = /^[a-zA-Z0-9_-]+$/
const longestName = 200

/**
 * The same conversation gives the same ids, a call and its result get the same one, and no two calls share one. The very
 * array that was given comes back when nothing had to be done.
 */
export function withLegalCalls(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(({ content }) => typeof content !== 'string' && content.some(needsChange))) return messages
  const ids = renamedIds(messages)
  return messages.map((message) => {
    const { content } = message
    if (typeof content === 'string' || !content.some(needsChange)) return message
    return { ...message, content: content.map((block) => legalBlock(block, ids)) }
  })
}

type Renamed = ReadonlyMap<string, string>

/** Ids by which a block names calls: its own, the one it answers, those it asks the cache to drop. */
function idsIn(block: Block): readonly string[] {
  if (isToolUse(block)) return [block.id]
  if (isToolResult(block)) return [block.tool_use_id]
  return block.type === 'cache_edits' ? cacheEdits(block).map(({ cache_reference }) => String(cache_reference)) : []
}

function cacheEdits(block: Block): readonly Block[] {
  return blocksOf(block.edits)
}

function needsChange(block: Block): boolean {
  return idsIn(block).some((id) => !legalId.test(id)) || (isToolUse(block) && !isLegalCall(block))
}

function isLegalCall({ name, input }: ToolUseBlock): boolean {
  return typeof name === 'string' && name !== '' && name.length <= longestName && isObject(input)
}

/** Every character that the API refuses becomes `_`; where another call has that id already, a number follows. */
function renamedIds(messages: readonly Message[]): Renamed {
  const all = new Set(messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content.flatMap(idsIn))))
  const taken = new Set([...all].filter((id) => legalId.test(id)))
  const renamed = new Map<string, string>()
  for (const id of all) {
    if (legalId.test(id)) continue
    const plain = id.replace(/[^a-zA-Z0-9_-]/g, '_') || '_'
    let name = plain
    for (let next = 2; taken.has(name); next++) name = `${plain}-${next}`
    taken.add(name)
    renamed.set(id, name)
  }
  return renamed
}

function legalBlock(block: Block, ids: Renamed): Block {
  const named = (id: string) => ids.get(id) ?? id
  if (isToolUse(block)) return { ...legalCall(block), id: named(block.id) }
  if (isToolResult(block)) return { ...block, tool_use_id: named(block.tool_use_id) }
  if (block.type !== 'cache_edits') return block
  const edits = cacheEdits(block).map((edit) => ({ ...edit, cache_reference: named(String(edit.cache_reference)) }))
  return { ...block, edits }
}

function legalCall(call: ToolUseBlock): ToolUseBlock {
  if (isLegalCall(call)) return call
  const name = String(call.name || 'unknown').slice(0, longestName)
  return { ...call, name, input: isObject(call.input) ? call.input : { input: call.input ?? null } }
}
