// Which blocks of ours an object in a peer's shape stands for: what a peer leaves alone comes back as it was, with
// signatures and everything else that its own shape has no place for.
import type { Block } from 'everlong'

let origins = new WeakMap<object, readonly Block[]>()

export function standingFor<T extends object>(made: T, blocks: readonly Block[]): T {
  origins.set(made, blocks)
  return made
}

/** Undefined for what a peer made itself. */
export function originOf(made: object): readonly Block[] | undefined {
  return origins.get(made)
}

/** Where nothing comes back: a map of a hundred thousand objects is a burden to whoever's memory is tidied up. */
export function forgetOrigins(): void {
  origins = new WeakMap()
}
