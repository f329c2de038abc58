// What an agent can see anywhere in a request: words, results, calls, restored files, regardless of how they got there.
import type { Block, Message } from 'everlong'
import { blocksOf, isText, isToolResult, isToolUse, textOf } from 'everlong/internal'

/** Every text of a request, in order. */
export function textsIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ content }) => blocksOf(content).map(textIn))
}

function textIn(block: Block): string {
  if (isText(block)) return block.text
  if (isToolResult(block)) return textOf(block.content)
  return isToolUse(block)
    ? Object.values(block.input as object)
        .filter(isString)
        .join('\n')
    : ''
}

const isString = (value: unknown): value is string => typeof value === 'string'

export type Part = { readonly signature: string; readonly line: string }

const maxPart = 8

/** The newest sight of a function from its signature to its return value. A single line from a search is not enough. */
export function partInSight(texts: readonly string[], symbol: string): Part | undefined {
  const begins = `export function ${symbol}(`
  for (const text of texts.toReversed()) {
    const at = text.lastIndexOf(begins)
    if (at < 0) continue
    const [signature = '', line = '', ...rest] = text.slice(at).split('\n', maxPart).map(withoutNumber)
    if (rest.some((other) => other.startsWith('  return '))) return { signature, line }
  }
  return undefined
}

/** Tools that read files number the lines. */
function withoutNumber(line: string): string {
  return line.replace(/^ *\d+[\t→]/, '')
}
