// The cache-edit extension: deleting tool results from a cached prefix without breaking it. No part of the public
// API; a header turns it on. A deletion takes effect on what is read from the cache; on a miss the result is read whole.
import type { Block } from 'everlong'
import { isObject, isToolResult } from 'everlong/internal'
import type { CacheUse } from '../cache/cache.ts'
import { invalid, type Problem } from '../http/problem.ts'
import type { Prompt } from '../prompt/prompt.ts'
import { type InputMessage, type MessagesRequest, placedIn, referenceOf } from '../request/request.ts'
import { type Messages, mapContent } from './view.ts'

export type Deletion = { readonly tokens: number; readonly references: ReadonlySet<string> }

/** A deletion must name a tool result of this request. */
export function checkCacheEdits(request: MessagesRequest): Problem | undefined {
  if (!request.extensions.cacheEdits) return undefined
  const results = new Set(request.messages.flatMap((message) => message.content.filter(isToolResult).map(referenceOf)))
  for (const { block, path } of placedIn(request.messages)) {
    for (const [at, reference] of referencesIn(block).entries()) {
      if (results.has(reference)) continue
      return invalid(`${path}.cache_edits.edits.${at}.cache_reference: no tool result has the reference ${reference}`)
    }
  }
  return undefined
}

export const nothingDeleted: Deletion = { tokens: 0, references: new Set() }

export function deletionOf(messages: Messages, prompt: Prompt, use: CacheUse): Deletion {
  const asked = new Set(messages.flatMap((message: InputMessage) => message.content.flatMap(referencesIn)))
  const references = new Set<string>()
  let tokens = 0
  for (const cell of asked.size === 0 ? [] : prompt.cells.slice(0, use.hitCells)) {
    if (cell.reference === undefined || !asked.has(cell.reference)) continue
    references.add(cell.reference)
    tokens += cell.tokens
  }
  return { tokens, references }
}

/** The messages that the model sees after results were deleted. */
export function withoutDeleted(messages: Messages, deletion: Deletion): Messages {
  if (deletion.references.size === 0) return messages
  const isGone = (block: Block) => isToolResult(block) && deletion.references.has(referenceOf(block))
  return mapContent(messages, (content) => content.map((block) => (isGone(block) ? { ...block, content: '' } : block)))
}

function referencesIn(block: Block): readonly string[] {
  if (block.type !== 'cache_edits' || !Array.isArray(block.edits)) return []
  return block.edits.filter(isObject).map((edit) => String(edit.cache_reference))
}
