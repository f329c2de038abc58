// Estimates how many tokens of a large public vocabulary (o200k) a string has, without a vocabulary: one fitted
// weight for each pair of a state and a character class. One pass, no allocation, never quadratic, never throws.
import { buildAutomaton } from './classes.ts'
import { rarityAt, tokensAt } from './packing.ts'
import { hanRarity, pairWeights } from './weights.ts'

const scale = 4096
const automaton = buildAutomaton((offset) => rarityAt(hanRarity, offset))
const classOf = automaton.classOf
const table = buildTable()

/** One cell for each state and class: the weight in the upper 16 bits, the offset of the next state's cells below. */
function buildTable(): Int32Array {
  const { states, classCount } = automaton
  const cells = new Int32Array(states.length * classCount)
  for (const [index, state] of states.entries()) {
    for (let to = 0; to < classCount; to++) {
      const weight = Math.round(tokensAt(pairWeights, state.row * classCount + to) * scale)
      cells[index * classCount + to] = (weight << 16) | ((state.next[to] ?? 0) * classCount)
    }
  }
  return cells
}

/** Tokens of this text, as a whole number; 0 only for the empty string. */
export function estimateTokens(text: string): number {
  return text === '' ? 0 : Math.max(1, Math.round(weigh(text) / scale))
}

/**
 * Called by itself, and the length asked for once: strings come in more kinds (flat, joined, cut, wide …) than V8 remembers
 * for one place in the code, and looking both up for each character made this four times as slow. It must be a constant of
 * this file: one that is imported is not called in line.
 */
const unitAt = String.prototype.charCodeAt

function weigh(text: string): number {
  let sum = 0
  let at = 0
  const { length } = text
  for (let index = 0; index < length; index++) {
    const cell = table[at + (classOf[unitAt.call(text, index)] as number)] as number
    sum += cell >>> 16
    at = cell & 0xffff
  }
  return sum
}
