// Whether messages are plainly valid, by one look at each block, as nearly all are. What is found sound needs no repair;
// what is not may still be valid.

import { type Block, isBlank, isBlock, isEmptyText, isThinking, isToolResult, isToolUse } from '../message/block.ts'
import type { Message, Role } from '../message/message.ts'
import { pairHalfOf } from '../message/pairing.ts'
import { wellFormedValue } from '../text/well-formed.ts'

/**
 * keep: as it is, for targets that do not look at it. strip-unsigned (the default): the API refuses thinking without
 * its signature. strip-changed: also that of messages that are named, for models that bind it to the exact prefix.
 * strip-all: none is left. An answer loses all of its thinking or none.
 */
export type ThinkingRepair = 'keep' | 'strip-unsigned' | 'strip-changed' | 'strip-all'

type SoundOptions = {
  readonly thinking?: ThinkingRepair | undefined
  /** Whose message comes first. */
  readonly first: Role
}

/** A stretch of a conversation that no call and no result ties to what is outside. */
export function isSound(messages: readonly Message[], { first, thinking = 'strip-unsigned' }: SoundOptions): boolean {
  const mayThink = (block: Block) => thinking === 'keep' || (thinking === 'strip-unsigned' && isSigned(block))
  const known = new Set<string>()
  let calls: readonly string[] = []
  for (let at = 0; at < messages.length; at++) {
    const { role, content } = messages[at] as Message
    if ((role === first) !== (at % 2 === 0)) return false
    if (wellFormedValue(content) !== content) return false
    if (typeof content === 'string') {
      if (calls.length > 0 || content.trim() === '') return false
    } else if (!areFull(content) || !startsWith(content, calls)) return false
    const found = role === 'assistant' ? callsIn(content, { known, mayThink }) : nothing
    if (found === undefined || (role === 'user' && holdsCalls(content))) return false
    calls = found
  }
  return calls.length === 0
}

const nothing: readonly string[] = []

/** There is something in it, nothing in it is empty, and no server's tool, whose pairs have rules of their own. */
function areFull(content: readonly unknown[]): boolean {
  for (let at = 0; at < content.length; at++) {
    const block = content[at]
    if (!isBlock(block)) return false
    if (block.type === 'text') {
      if (isBlank(block)) return false
    } else if (block.type === 'tool_result') {
      if (!isToolResult(block) || (Array.isArray(block.content) && block.content.some(isEmptyText))) return false
    } else if (block.type === 'tool_use') {
      if (!isToolUse(block)) return false
    } else if (pairHalfOf(block) !== undefined) return false
  }
  return content.length > 0
}

/** With the results of these calls, each of them once, and no other results. */
function startsWith(content: readonly Block[], calls: readonly string[]): boolean {
  if (content.length < calls.length) return false
  for (let at = 0; at < content.length; at++) {
    const block = content[at] as Block
    if (!isToolResult(block)) {
      if (at < calls.length) return false
    } else if (at >= calls.length || !calls.includes(block.tool_use_id) || isBefore(content, at)) return false
  }
  return true
}

/** Another result of the same call. */
function isBefore(content: readonly Block[], at: number): boolean {
  for (let before = 0; before < at; before++) {
    if (content[before]?.tool_use_id === content[at]?.tool_use_id) return true
  }
  return false
}

type Answers = {
  readonly known: Set<string>
  /** Whether this thinking may stand in an answer, before something else of it. */
  readonly mayThink: (block: Block) => boolean
}

/** The ids of an answer's calls; undefined when one was there before, or where there is thinking that may not be. */
function callsIn(content: Message['content'], { known, mayThink }: Answers): readonly string[] | undefined {
  if (typeof content === 'string') return nothing
  let calls: string[] | undefined
  for (let at = 0; at < content.length; at++) {
    const block = content[at] as Block
    if (isToolUse(block)) {
      if (known.has(block.id)) return undefined
      known.add(block.id)
      calls ??= []
      calls.push(block.id)
    } else if (isThinking(block) && (at === content.length - 1 || !mayThink(block))) return undefined
  }
  return calls ?? nothing
}

/** The API refuses thinking without it. */
export function isSigned(block: Block): boolean {
  return Boolean(block.type === 'thinking' ? block.signature : block.data)
}

/** Or thinking: a person does neither. */
function holdsCalls(content: Message['content']): boolean {
  return typeof content !== 'string' && content.some((block) => isToolUse(block) || isThinking(block))
}
