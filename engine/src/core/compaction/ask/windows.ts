// A history many times as long as the summarizer's window, in windows: oldest first, each one small enough to be read at
// once. A message larger than a window is cut in its middle, which is said. Nothing is sent from here.
import { type Block, isText, isToolResult, isToolUse, textOf } from '../../message/block.ts'
import type { Message } from '../../message/message.ts'
import { roundsOf } from '../../message/rounds.ts'
import { withoutMiddle } from '../../text/cut.ts'
import type { PreparedMessage } from './prepare.ts'

export type WindowOptions = {
  /** Tokens that one window may hold. */
  readonly size: number
  readonly weigh: (message: Message) => number
}

/** Whole rounds, in order; every message is in exactly one window. */
export function windowsOf(
  messages: readonly PreparedMessage[],
  { size, weigh }: WindowOptions,
): readonly (readonly PreparedMessage[])[] {
  const windows: PreparedMessage[][] = []
  let room = 0
  for (const { start, end } of roundsOf(messages)) {
    const round = fitted(messages.slice(start, end), { size, weigh })
    const weight = round.reduce((sum, message) => sum + weigh(message), 0)
    const open = windows.at(-1)
    if (open && weight <= room) open.push(...round)
    else {
      windows.push([...round])
      room = size
    }
    room -= weight
  }
  return windows
}

const least = 400

/** The texts of a round that is too large for a window shrink by the same share, until it is not. */
function fitted(round: readonly PreparedMessage[], { size, weigh }: WindowOptions): readonly PreparedMessage[] {
  let current = round
  for (let attempt = 0; attempt < 8; attempt++) {
    const weight = current.reduce((sum, message) => sum + weigh(message), 0)
    if (weight <= size) return current
    const share = (size / weight) * 0.9
    current = current.map((message) => ({
      ...message,
      content: message.content.map((block) => shortened(block, share)),
    }))
  }
  return current
}

function shortened(block: Block, share: number): Block {
  const cut = (text: string) =>
    text.length <= least ? text : withoutMiddle(text, { most: Math.max(least, text.length * share) })
  if (isText(block)) return { ...block, text: cut(block.text) }
  if (isToolResult(block)) return { ...block, content: cut(textOf(block.content)) }
  if (!isToolUse(block)) return block
  const input = JSON.stringify(block.input)
  return input.length <= least ? block : { ...block, input: { shortened: cut(input) } }
}
