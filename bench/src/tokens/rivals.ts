// Everybody who counts tokens: packages that can be called, and the rules that agents are documented to use, written here
// by us from their descriptions.
import { estimateTokens } from 'everlong'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { estimateTokenCount } from 'tokenx'
import { countExactly } from './truth.ts'

export type Rival = { readonly name: string; readonly count: (text: string) => number }

let tiktoken: Tiktoken | undefined

/** Its vocabulary takes most of a second to read: only when it is wanted. */
function countWithTiktoken(text: string): number {
  tiktoken ??= new Tiktoken(o200k)
  return tiktoken.encode(text, 'all').length
}

export const ours: Rival = { name: 'Everlong', count: estimateTokens }

/** What guesses: their errors can be compared. */
export const estimators: readonly Rival[] = [
  ours,
  { name: 'tokenx', count: estimateTokenCount },
  { name: 'length / 4 (pi, opencode, LangChain)', count: (text) => text.length / 4 },
  { name: 'bytes / 4 (Codex)', count: (text) => Buffer.byteLength(text) / 4 },
  { name: 'length / 3 (Cline)', count: (text) => Math.ceil(text.length / 3) },
  { name: 'ASCII ¼, others 1½ (Gemini)', count: byAscii },
  // Exact for this vocabulary, and then half as much again on purpose.
  { name: 'o200k × 1.5 (Roo)', count: (text) => 1.5 * countExactly(text, 'o200k') },
]

/** What knows the vocabulary, and is exact for it. */
export const tokenizers: readonly Rival[] = [
  { name: 'gpt-tokenizer o200k', count: (text) => countExactly(text, 'o200k') },
  { name: 'js-tiktoken o200k', count: countWithTiktoken },
]

const longForGemini = 100_000

function byAscii(text: string): number {
  if (text.length > longForGemini) return text.length / 4
  let tokens = 0
  for (const character of text) tokens += (character.codePointAt(0) ?? 0) < 128 ? 0.25 : 1.5
  return tokens
}
