// What makes two facts the same one.
import type { CommandFact, ErrorFact, Typed } from './facts.ts'

export function commandKey(fact: Pick<CommandFact, 'text'>): string {
  return fact.text
}

/** Numbers change from run to run: places, times, counts. */
export function errorKey(fact: Pick<ErrorFact, 'what' | 'line'>): string {
  return `${fact.what}\n${fact.line.replace(/\d+/g, '0')}`
}

export function typedKey(fact: Pick<Typed, 'text' | 'uuid'>): string {
  return fact.uuid ?? fact.text
}
