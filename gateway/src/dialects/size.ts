// Tokens of a request by our estimate, system prompt and tools included.
import { countTokens } from 'everlong'
import type { Asked } from './dialect.ts'

export function sizeOf(asked: Asked | undefined): number {
  return asked ? countTokens(asked.messages as never) + overheadOf(asked) : 0
}

/** Tokens of only the system prompt and tools. */
export function overheadOf({ system, tools }: Pick<Asked, 'system' | 'tools'>): number {
  const parts = [system, tools].filter((part) => part !== undefined && part !== null && part !== '')
  return countTokens([
    { role: 'user', content: parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('\n') },
  ])
}
