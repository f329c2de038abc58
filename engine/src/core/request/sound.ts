// Whether messages are plainly valid, by one look at each block, as nearly all are. Sound messages need no repair; those
// that are not may still be valid.
import { type Block, isBlank, isBlock, isEmptyText, isThinking, isToolResult, isToolUse } from '../message/block.ts'
import { pairHalfOf } from '../message/pairing.ts'
import type { Draft } from './draft.ts'

/** Expects strings to be well formed and thinking that may not be sent to be gone. */
export function isSound(drafts: readonly Draft[]): boolean {
  const known = new Set<string>()
  let calls: readonly string[] = []
  for (let at = 0; at < drafts.length; at++) {
    const { role, blocks } = drafts[at] as Draft
    if ((role === 'user') !== (at % 2 === 0)) return false
    if (!areFull(blocks) || !startsWith(blocks, calls)) return false
    if (role === 'assistant') {
      const found = callsIn(blocks, known)
      if (found === undefined) return false
      calls = found
    } else {
      if (holdsCalls(blocks)) return false
      calls = nothing
    }
  }
  return calls.length === 0
}

const nothing: readonly string[] = []

/** There is something in it, nothing in it is empty, and no server's tool, whose pairs have rules of their own. */
function areFull(blocks: readonly unknown[]): boolean {
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at]
    if (!isBlock(block)) return false
    if (block.type === 'text') {
      if (isBlank(block)) return false
    } else if (block.type === 'tool_result') {
      if (!isToolResult(block) || (Array.isArray(block.content) && block.content.some(isEmptyText))) return false
    } else if (block.type === 'tool_use') {
      if (!isToolUse(block)) return false
    } else if (pairHalfOf(block) !== undefined) return false
  }
  return blocks.length > 0
}

/** With the results of these calls, each of them once, and no other results. */
function startsWith(blocks: readonly Block[], calls: readonly string[]): boolean {
  if (blocks.length < calls.length) return false
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at] as Block
    if (!isToolResult(block)) {
      if (at < calls.length) return false
    } else if (at >= calls.length || !calls.includes(block.tool_use_id) || isRepeated(blocks, at)) return false
  }
  return true
}

/** Whether another result of the same call stands before it. */
function isRepeated(blocks: readonly Block[], at: number): boolean {
  for (let before = 0; before < at; before++) {
    if (blocks[before]?.tool_use_id === blocks[at]?.tool_use_id) return true
  }
  return false
}

/** The ids of an answer's calls; undefined when one was made before, or where the answer ends with thinking. */
function callsIn(blocks: readonly Block[], known: Set<string>): readonly string[] | undefined {
  let calls: string[] | undefined
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at] as Block
    if (isToolUse(block)) {
      if (known.has(block.id)) return undefined
      known.add(block.id)
      calls ??= []
      calls.push(block.id)
    } else if (isThinking(block) && at === blocks.length - 1) return undefined
  }
  return calls ?? nothing
}

/** Or thinking: a person does neither. */
function holdsCalls(blocks: readonly Block[]): boolean {
  return blocks.some((block) => isToolUse(block) || isThinking(block))
}
