// What the estimate is held against: exact counts of two public vocabularies.
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base'
import * as o200k from 'gpt-tokenizer/encoding/o200k_base'

export type Vocabulary = 'o200k' | 'cl100k'
export const vocabularies: readonly Vocabulary[] = ['o200k', 'cl100k']

// Text that spells a control token is text here, as it is in a conversation.
const plain = { disallowedSpecial: new Set<string>() }

export function countExactly(text: string, vocabulary: Vocabulary): number {
  return (vocabulary === 'o200k' ? o200k : cl100k).countTokens(text, plain)
}
