// The names of a prompt's prefixes: one digest for each cell, made from all that comes before it.
import { digestOf } from '../prompt/digest.ts'
import type { Prompt } from '../prompt/prompt.ts'

export type Chain = {
  /** keys[i] names the prefix that ends with cell i. */
  readonly keys: readonly string[]
  /** ends[i]: the tokens of the prefix that ends with cell i. */
  readonly ends: readonly number[]
}

export function chainOf(prompt: Prompt): Chain {
  const keys: string[] = []
  const ends: number[] = []
  let key = prompt.settings.model
  let end = 0
  let inMessages = false
  for (const cell of prompt.cells) {
    // Tool choice, thinking, effort and images change what follows the system prompt, not what precedes it.
    const entering: boolean = cell.layer === 'messages' && !inMessages
    inMessages ||= entering
    key = digestOf(`${key}\n${cell.layer}\n${entering ? prompt.settings.messages : ''}\n${cell.digest}`)
    end += cell.tokens
    keys.push(key)
    ends.push(end)
  }
  return { keys, ends }
}
