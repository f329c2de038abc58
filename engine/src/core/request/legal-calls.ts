// Calls of other providers, as the Messages API accepts them: ids such as `call_a|fc_b`, names such as `functions.Read`,
// and inputs that are no objects. Depends on the call alone, so that a message keeps its place in the cache.
import { type Block, blocksOf, isToolResult, isToolUse } from '../message/block.ts'
import { isObject, type JsonObject } from '../message/json.ts'
import { hashText } from '../text/hash.ts'

const legalId = /^[a-zA-Z0-9_-]+$/
const legalName = /^[a-zA-Z0-9_-]{1,128}$/
const maxName = 128
/** Enough to recognize an id in a log. */
const maxReadable = 40

/** The same object if it is legal. `offered`: names of the tools in the request, which stay as the host wrote them. */
export function legalCall(block: Block, offered: ReadonlySet<unknown>): Block {
  if (isToolUse(block)) {
    const { id, name, input } = block
    const isKnown = offered.has(name) || (typeof name === 'string' && legalName.test(name))
    if (isKnown && isObject(input) && legalId.test(id)) return block
    return {
      ...block,
      name: isKnown ? name : legalNameFor(name),
      input: isObject(input) ? input : { input: input ?? null },
      id: legalIdFor(id),
    }
  }
  if (isToolResult(block)) {
    const { tool_use_id: id } = block
    return legalId.test(id) ? block : { ...block, tool_use_id: legalIdFor(id) }
  }
  if (block.type !== 'cache_edits') return block
  const legal = (edit: Block) => ({ ...edit, cache_reference: legalIdFor(String(edit.cache_reference)) })
  return { ...block, edits: blocksOf(block.edits).map(legal) }
}

/** The readable part of the original, then its hash, which keeps `a.b` and `a:b` apart. */
function legalIdFor(id: string): string {
  if (legalId.test(id)) return id
  const readable = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxReadable)
  return `${readable}-${hashText(id).toString(36)}`
}

/** Two tools may end up with one name: it only has to remind the model of what it called. */
function legalNameFor(name: unknown): string {
  const readable = String(name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_')
  return readable.slice(0, maxName) || 'unknown'
}

/** Context edits that name tools, with the names that the calls in the request have. */
export function withLegalNames(options: JsonObject | undefined, offered: ReadonlySet<unknown>): JsonObject | undefined {
  const management = options?.context_management
  if (!isObject(management) || !Array.isArray(management.edits)) return options
  const legal = (name: unknown) =>
    offered.has(name) || (typeof name === 'string' && legalName.test(name)) ? name : legalNameFor(name)
  const names = (value: unknown) => (Array.isArray(value) ? [...new Set(value.map(legal))] : value)
  const edits = management.edits.map((edit: unknown) => {
    if (!isObject(edit)) return edit
    const { exclude_tools: excluded, clear_tool_inputs: cleared } = edit
    return {
      ...edit,
      ...(Array.isArray(excluded) ? { exclude_tools: names(excluded) } : {}),
      ...(Array.isArray(cleared) ? { clear_tool_inputs: names(cleared) } : {}),
    }
  })
  return { ...options, context_management: { ...management, edits } }
}
