// The text and the size of the model's input, measured the same way for all.
import type { Message } from 'everlong'
import { shownIn } from '../fidelity/cases.ts'
import { countTokens } from '../fidelity/measure.ts'

export function textOf(messages: readonly Message[]): string {
  return messages.map((message) => shownIn({ ...message, origin: 'meta' })).join('\n')
}

export function tokensOf(messages: readonly Message[]): number {
  return countTokens(textOf(messages))
}
