// The names of a prompt's prefixes: one digest for each cell, made from all that comes before it.
import { digestOf } from '../prompt/digest.ts'
import type { Layer, Prompt } from '../prompt/prompt.ts'

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
  let layer: Layer = 'tools'
  for (const cell of prompt.cells) {
    // Speed changes the system layer; tool choice, thinking, effort and images what follows it. Neither touches tools.
    if (layer === 'tools' && cell.layer !== 'tools') key += `\n${prompt.settings.system}`
    if (layer !== 'messages' && cell.layer === 'messages') key += `\n${prompt.settings.messages}`
    layer = cell.layer
    key = digestOf(`${key}\n${cell.layer}\n${cell.digest}`)
    end += cell.tokens
    keys.push(key)
    ends.push(end)
  }
  return { keys, ends }
}
