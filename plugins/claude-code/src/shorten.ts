// Opt-in: stores a long tool result next to the session, and gives the agent its start, its end and the path of the rest. Claude
// Code's transcript then has only the short form, so a result is shortened only after it was stored.
import { storeResults } from 'everlong/internal/node'
import type { HookEvent } from './event.ts'

/** The result in the shape of its tool, with long texts shortened. Undefined if there is nothing to shorten. */
export function shortened({ transcript, input }: HookEvent, maxLength: number): unknown {
  const { tool_use_id: id, tool_response: response } = input
  if (typeof id !== 'string') return undefined
  const texts = longTextsIn(response, maxLength)
  if (texts.length === 0) return undefined
  const stored = storeResults(transcript, [{ toolUseId: id, content: texts.join('\n\n') }])
  if (stored.type === 'store-failed') throw new Error(`A long result was not shortened: ${stored.message}`)
  const path = stored.written[0]
  // Another file with that name may have different text, and a lone surrogate cannot be stored.
  if (path === undefined) return undefined
  return replaced(response, (text) => (text.length > maxLength ? shortForm(text, { maxLength, path, id }) : text))
}

function shortForm(text: string, { maxLength, path, id }: { maxLength: number; path: string; id: string }): string {
  const head = text.slice(0, Math.floor(maxLength * 0.3)).toWellFormed()
  const tail = text.slice(-Math.floor(maxLength * 0.2)).toWellFormed()
  const out = text.length - head.length - tail.length
  return `${head}\n[… ${out} characters left out here. The whole result is in ${path}; the everlong read tool reads it as ${id}. …]\n${tail}`
}

function longTextsIn(response: unknown, maxLength: number): readonly string[] {
  const found: string[] = []
  replaced(response, (text) => {
    if (text.length > maxLength) found.push(text)
    return text
  })
  return found
}

/** Keeps the shape, because Claude Code ignores a result in another shape. Pictures stay unchanged. */
function replaced(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((item) => replaced(item, replace))
  if (typeof value !== 'object' || value === null) return value
  if ('isImage' in value && value.isImage === true) return value
  if ('type' in value && ['image', 'audio', 'resource'].includes(String(value.type))) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, replace)]))
}
