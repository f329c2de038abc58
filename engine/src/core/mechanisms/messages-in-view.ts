// What mechanisms look for in the messages of a view: what stands behind a place, answers that think, copies of memory
// files. Only what is new is read from one view of a conversation to the next.
import { type Block, blocksOf, isThinking } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Source } from '../transcript/view/merge.ts'
import { createFollower } from './follow.ts'
import type { Weigher } from './weigher.ts'

/** What the messages from this one on weigh together. */
export function weightFrom(view: View, weigher: Weigher, first: number): number {
  return weigher.once(scaleFor, weigher)(view, first)
}

/** Sums from the start, always added in the same order: the same messages weigh the same, whatever was asked before. */
function scaleFor(weigher: Weigher): (view: View, first: number) => number {
  const sums = [0]
  const takeBack = () => {
    sums.pop()
  }
  const follow = createFollower((message: ViewMessage) => {
    sums.push((sums.at(-1) ?? 0) + weigher.message(message))
    return takeBack
  })
  return ({ messages }, first) => {
    if (first >= messages.length) return 0
    follow(messages)
    return (sums.at(-1) ?? 0) - (sums[Math.max(0, first)] ?? 0)
  }
}

/** An answer that thinks: its index in the view, and the blocks. */
export type Thinking = { readonly message: number; readonly blocks: readonly Block[] }

export function thinkingIn(view: View, weigher: Weigher): readonly Thinking[] {
  return weigher.once(weigher.once(thinkingReader, weigher), view)
}

function thinkingReader(): (view: View) => readonly Thinking[] {
  const found: Thinking[] = []
  const takeBack = () => {
    found.pop()
  }
  const follow = createFollower(({ role, content }: ViewMessage, message) => {
    if (role !== 'assistant' || typeof content === 'string' || !content.some(isThinking)) return undefined
    found.push({ message, blocks: blocksOf(content).filter(isThinking) })
    return takeBack
  })
  return ({ messages }) => {
    follow(messages)
    return found.slice()
  }
}

/** nested_memory of Claude Code and its likes: memory, memory_file, relevant_memories … */
const memoryKind = /(^|_)memor(y|ies)(_|$)/

/** Injected memory files, each with the index of its message. */
export type MemoryCopy = { readonly message: number; readonly piece: ViewMessage }

export function memoryIn(view: View, weigher: Weigher): readonly MemoryCopy[] {
  return weigher.once(weigher.once(memoryReader, weigher), view)
}

function memoryReader(): (view: View) => readonly MemoryCopy[] {
  const found: MemoryCopy[] = []
  const isMemory = ({ attachment }: ViewMessage) => attachment !== undefined && memoryKind.test(attachment)
  const follow = createFollower(({ pieces }: Source, message) => {
    if (!pieces.some(isMemory)) return undefined
    const { length } = found
    for (const piece of pieces) if (isMemory(piece)) found.push({ message, piece })
    return () => {
      found.length = length
    }
  })
  return ({ sources }) => {
    follow(sources)
    return found.slice()
  }
}
