// What a block is, as a short string: equal for equal content, whatever marks it carries.
import { hash } from 'node:crypto'
import { type Block, isObject, isText, isToolResult, type JsonObject } from 'everlong'

/** Tells contents apart, keeps no secret: the quickest hash at hand will do. */
export function digestOf(text: string): string {
  return hash('sha1', text, 'hex')
}

/** Fields that say how a block is cached, not what it says. */
const marks = new Set(['cache_control', 'cache_reference'])

/** Remembers by identity: one request looks at its blocks several times. */
export function createDigests(): (block: JsonObject) => string {
  const known = new WeakMap<object, string>()
  return (block) => {
    const found = known.get(block)
    if (found !== undefined) return found
    const digest = blockDigest(block)
    known.set(block, digest)
    return digest
  }
}

function blockDigest(block: JsonObject): string {
  const typed = block as Block
  if (isText(typed) && !typed.citations) return `text:${digestOf(typed.text)}`
  if (isToolResult(typed) && typeof typed.content === 'string') {
    return `tool_result:${typed.tool_use_id}:${typed.is_error === true}:${digestOf(typed.content)}`
  }
  return `${String(block.type)}:${digestOf(JSON.stringify(canonical(block)))}`
}

/** Fields in the order of their names, marks left out. Inputs of tools keep their own order: it is content. */
function canonical(block: JsonObject): JsonObject {
  const entries = Object.entries(block)
    .filter(([key, value]) => !marks.has(key) && value !== null && value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]): [string, unknown] => [key, key === 'content' ? canonicalContent(value) : value])
  return Object.fromEntries(entries)
}

function canonicalContent(content: unknown): unknown {
  return Array.isArray(content) ? content.map((part) => (isObject(part) ? canonical(part) : part)) : content
}
