// Writes a request on one line for snapshots and for reading: `u a[th tu2] u[tr2] a`. A message with only text has no brackets.
import { type Block, blocksOf, type Message, pairHalfOf } from './message.ts'

const names: Readonly<Record<string, string>> = {
  text: 't',
  thinking: 'th',
  redacted_thinking: 'rth',
  tool_use: 'tu',
  tool_result: 'tr',
  image: 'img',
  document: 'doc',
}

export function shapeOf(messages: readonly Message[]): string {
  return messages.map(shapeOfMessage).join(' ')
}

function shapeOfMessage({ role, content }: Message): string {
  const letter = role === 'user' ? 'u' : 'a'
  const runs: { readonly name: string; count: number }[] = []
  for (const block of blocksOf(content)) {
    const name = nameOf(block)
    const last = runs.at(-1)
    if (last?.name === name) last.count++
    else runs.push({ name, count: 1 })
  }
  if (runs.length === 0) return `${letter}[]`
  if (runs.length === 1 && runs[0]?.name === 't' && runs[0].count === 1) return letter
  return `${letter}[${runs.map(({ name, count }) => (count === 1 ? name : `${name}${count}`)).join(' ')}]`
}

function nameOf(block: Block): string {
  const half = pairHalfOf(block)
  if (half?.tool === 'server') return half.half === 'use' ? 'su' : 'sr'
  return names[block.type] ?? block.type
}
