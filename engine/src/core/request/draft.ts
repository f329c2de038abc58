// What the passes of a repair work on: a message as blocks, and the reports of what was done.
import { type Block, blocksOf, type TextBlock, textOf } from '../message/block.ts'
import type { Message, Role } from '../message/message.ts'
import { neutralize } from '../text/neutralize.ts'

export type Repair = {
  readonly type:
    | 'thinking-dropped' // unsigned, bound to a prefix that has changed, at the end of an answer, or in the wrong role
    | 'half-characters-replaced' // lone surrogates, which no API accepts
    | 'empty-dropped'
    | 'messages-merged'
    | 'result-added' // for a call that never got one
    | 'result-moved'
    | 'result-became-text' // its call is no longer there
    | 'use-became-text'
    | 'duplicate-dropped'
    | 'server-block-dropped' // half a pair of a server's tool
    | 'opening-added'
  /** Index of the message in the request before the repair. */
  readonly message: number
  readonly id?: string
}

export type Draft = {
  readonly role: Role
  readonly blocks: readonly Block[]
  readonly index: number
  /** The message itself, until something about it changes. */
  readonly whole?: Message
}

export type Report = (repair: Repair) => void
/** Reports in the order of the drafts, and returns a draft that it leaves alone as it is. */
export type Pass = (drafts: readonly Draft[], report: Report) => readonly Draft[]

/** The draft with these blocks; the same object when they are the same. */
export function withBlocks(draft: Draft, blocks: readonly Block[]): Draft {
  const isSame = blocks.length === draft.blocks.length && blocks.every((block, at) => block === draft.blocks[at])
  return isSame ? draft : { role: draft.role, blocks, index: draft.index }
}

export function note(text: string): TextBlock {
  return { type: 'text', text }
}

/** A result whose call is gone: its text, and its images as they are. */
export function resultAsText(result: Block): readonly Block[] {
  const text = textOf(result.content)
  const title = '[Result of a tool call that is no longer in this conversation]'
  const isMedia = ({ type }: Block) => type !== 'text' && !type.endsWith('_reference')
  return [note(text === '' ? title : `${title}\n${neutralize(text)}`), ...blocksOf(result.content).filter(isMedia)]
}

export function useAsText(use: Block): Block {
  return note(`[Tool call: ${neutralize(`${String(use.name)} ${JSON.stringify(use.input ?? {})}`)}]`)
}
