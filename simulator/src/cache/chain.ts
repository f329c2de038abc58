// Keys for a prompt's prefixes: one per cell, computed from everything before it.
import type { Layer, Prompt } from '../prompt/prompt.ts'

export type Chain = {
  /** The key of the prefix that ends with cell `index`. */
  readonly keyAt: (index: number) => string
  /** ends[i]: the tokens of the prefix that ends with cell i. */
  readonly ends: readonly number[]
}

/** Four numbers of 32 bits. Nobody attacks these keys, so collisions only have to be unlikely. */
const width = 4

export function chainOf(prompt: Prompt): Chain {
  const { cells, settings } = prompt
  const states = new Uint32Array(cells.length * width)
  const ends: number[] = []
  const state = new Uint32Array([1779033703, 3144134277, 1013904242, 2773480762])
  mix(state, settings.model)
  let end = 0
  let layer: Layer = 'tools'
  for (const [at, cell] of cells.entries()) {
    // Speed changes the system layer; tool choice, thinking, effort and images change the layer after it. None of them affects
    // tools.
    if (layer === 'tools' && cell.layer !== 'tools') mix(state, settings.system)
    if (layer !== 'messages' && cell.layer === 'messages') mix(state, settings.messages)
    layer = cell.layer
    mix(state, cell.layer)
    mix(state, cell.digest)
    states.set(state, at * width)
    end += cell.tokens
    ends.push(end)
  }
  return { keyAt: (index) => states.subarray(index * width, (index + 1) * width).join('.'), ends }
}

/** Adds one part to the state. Each part ends with a separator, so that "ab" + "c" differs from "a" + "bc". */
function mix(state: Uint32Array, part: string): void {
  let [a = 0, b = 0, c = 0, d = 0] = state
  for (let at = 0; at <= part.length; at++) {
    const code = at === part.length ? 0x10ffff : part.charCodeAt(at)
    a = b ^ Math.imul(a ^ code, 597399067)
    b = c ^ Math.imul(b ^ code, 2869860233)
    c = d ^ Math.imul(c ^ code, 951274213)
    d = a ^ Math.imul(d ^ code, 2716044179)
  }
  state[0] = a
  state[1] = b
  state[2] = c
  state[3] = d
}
