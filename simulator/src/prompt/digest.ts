// A short string for a block: equal for equal content, regardless of its marks.
import { hash } from 'node:crypto'
import type { Block } from 'everlong'
import { isObject, isText, isToolResult, isToolUse, type JsonObject } from 'everlong/internal'

/** Distinguishes contents and protects no secret, so the fastest hash is good enough. */
export function digestOf(text: string): string {
  return hash('sha1', text, 'hex')
}

/** Fields about caching a block, which are not part of its content. */
const marks = new Set(['cache_control', 'cache_reference'])

export type TextDigest = (text: string) => string

const worthKeeping = 1_024
const maxCharacters = 50_000_000

/** Long texts repeat in every request, and comparing one with its older copy is ten times faster than hashing it. */
export function createTextDigest(): TextDigest {
  const kept = new Map<string, { readonly text: string; readonly digest: string }>()
  let characters = 0
  return (text) => {
    if (text.length < worthKeeping) return digestOf(text)
    const middle = text.length >> 1
    const sample = `${text.length} ${text.slice(0, 48)} ${text.slice(middle, middle + 48)} ${text.slice(-48)}`
    const found = kept.get(sample)
    if (found?.text === text) return found.digest
    const digest = digestOf(text)
    if (characters > maxCharacters) {
      kept.clear()
      characters = 0
    }
    kept.set(sample, { text, digest })
    characters += text.length
    return digest
  }
}

/** Caches by identity during one request, so it is created anew for each. */
export function createDigests(textDigest: TextDigest): (block: JsonObject) => string {
  const known = new Map<object, string>()
  return (block) => {
    const found = known.get(block)
    if (found !== undefined) return found
    const digest = blockDigest(block, textDigest)
    known.set(block, digest)
    return digest
  }
}

function blockDigest(block: JsonObject, textDigest: TextDigest): string {
  const typed = block as Block
  if (isText(typed) && !typed.citations) return `text:${textDigest(typed.text)}`
  if (isToolResult(typed) && typeof typed.content === 'string') {
    return `tool_result:${typed.tool_use_id}:${typed.is_error === true}:${textDigest(typed.content)}`
  }
  if (isToolUse(typed)) return `tool_use:${typed.id}:${typed.name}:${digestOf(JSON.stringify(typed.input))}`
  return `${String(block.type)}:${digestOf(JSON.stringify(canonical(block)))}`
}

/** Sorts fields by name and removes marks. Inputs of tools keep their order, because it is content. */
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
