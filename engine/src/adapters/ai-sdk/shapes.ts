// Messages of the AI SDK as far as the adapter looks at them. A prompt of a language model (specification v2 to v4) and the
// model messages of `generateText` differ in details only, and parts that are not known must pass through, so all of them
// are read as plain objects.
import { isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'

export type Part = JsonObject & { readonly type: string }

export type AiMessage = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly Part[]
  readonly providerOptions?: JsonObject
}

/** How files are written: tagged (`{ type: 'data', data }`), as prompts of v4 need it, or bare. */
export type FileShape = 'tagged' | 'bare'

export function partsIn(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isPart) : []
}

export function isPart(value: unknown): value is Part {
  return isObject(value) && typeof value.type === 'string'
}

/** Where Anthropic's provider keeps what the API needs back: signatures, redacted thinking. */
export function anthropicOptions(part: JsonObject): JsonObject | undefined {
  return objectAt(part.providerOptions, 'anthropic')
}

export function textOfPart(part: JsonObject): string {
  return stringAt(part, 'text') ?? ''
}
