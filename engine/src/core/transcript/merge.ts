// From pieces, one for each entry, to the messages a request carries: the pieces of an answer are one message, what
// comes from the user until the next answer is one message behind it, results first. Same pieces, same bytes.
import { type Block, blocksOf, isMedia, isToolResult, textOf } from '../message/block.ts'
import type { Origin, ViewMessage } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'

/** What a message of the view came from. */
export type Source = {
  /** The entries, in order; those that a range took out are named by the message that stands in their place. */
  readonly uuids: readonly string[]
  /** The edits in force that changed it. */
  readonly edits: readonly string[]
  readonly isPinned: boolean
  /** What it was put together from, one for each entry or range. */
  readonly pieces: readonly ViewMessage[]
}

export type Piece = {
  readonly message: ViewMessage
  /** Of its entry; of all its entries where it stands for a range. */
  readonly uuids: string | readonly string[]
  readonly edits: readonly string[]
  readonly isPinned: boolean
  /** Of the entry, or of the edit. */
  readonly row: number
  /** Where it stands in the order of the view. */
  readonly place: number
}

export type MergedMessage = {
  readonly message: ViewMessage
  readonly source: Source
  /** Both of its first piece. */
  readonly row: number
  readonly place: number
}

/** One answer, and what the user's side brought after it. */
export function mergeRound(pieces: readonly Piece[]): readonly MergedMessage[] {
  const answer: Piece[] = []
  const rest: Piece[] = []
  for (const piece of pieces) (piece.message.role === 'assistant' ? answer : rest).push(piece)
  const merged: MergedMessage[] = []
  if (answer[0]) merged.push(made(answer, answer[0], mergeAnswer(answer)))
  if (rest[0]) merged.push(made(rest, rest[0], mergeUser(rest)))
  return merged
}

function made(pieces: readonly Piece[], { row, place }: Piece, message: ViewMessage): MergedMessage {
  return { message, source: sourceOf(pieces), row, place }
}

const noEdits: readonly string[] = []

function sourceOf(pieces: readonly Piece[]): Source {
  const uuids: string[] = []
  for (const piece of pieces) {
    if (typeof piece.uuids === 'string') uuids.push(piece.uuids)
    else for (const uuid of piece.uuids) uuids.push(uuid)
  }
  const isEdited = pieces.some(({ edits }) => edits.length > 0)
  return {
    uuids,
    edits: isEdited ? [...new Set(pieces.flatMap(({ edits }) => edits))] : noEdits,
    isPinned: pieces.some(({ isPinned }) => isPinned),
    pieces: pieces.map(({ message }) => message),
  }
}

/** Its usage is that of the piece with the most output: old clients wrote stubs with the first ones. */
function mergeAnswer(pieces: readonly Piece[]): ViewMessage {
  const [first, ...others] = pieces.map(({ message }) => message)
  if (!first || others.length === 0) return first ?? { role: 'assistant', content: '', origin: 'assistant' }
  let best = first
  for (const other of others) {
    if (!other.usage) continue
    if (!best.usage || contextTokens(other.usage) >= contextTokens(best.usage)) best = other
  }
  return {
    ...first,
    content: [first, ...others].flatMap(({ content }) => blocksOf(content)),
    ...(best.model === undefined ? {} : { model: best.model }),
    ...(best.usage === undefined ? {} : { usage: best.usage }),
  }
}

function mergeUser(pieces: readonly Piece[]): ViewMessage {
  const messages = pieces.map(({ message }) => message)
  const [first] = messages
  if (first && messages.length === 1 && first.origin !== 'attachment') return resultsFirst(first)
  const results: Block[] = []
  const others: Block[] = []
  for (const run of runsOf(messages)) {
    const blocks =
      run[0]?.origin === 'attachment' ? contextBlocks(run) : run.flatMap(({ content }) => blocksOf(content))
    for (const block of blocks) (isToolResult(block) ? results : others).push(block)
  }
  const { uuid, time } = first ?? {}
  const kinds = new Set(messages.map(({ attachment }) => attachment))
  const [kind] = kinds
  return {
    role: 'user',
    content: [...results, ...others],
    origin: originOfAll(messages),
    ...(uuid === undefined ? {} : { uuid }),
    ...(time === undefined ? {} : { time }),
    ...(kinds.size === 1 && kind !== undefined ? { attachment: kind } : {}),
  }
}

/** The very same message unless something stands before a result. */
function resultsFirst(message: ViewMessage): ViewMessage {
  const { content } = message
  if (typeof content === 'string') return message
  const firstOther = content.findIndex((block) => !isToolResult(block))
  if (firstOther < 0 || !content.slice(firstOther).some(isToolResult)) return message
  return { ...message, content: [...content.filter(isToolResult), ...content.filter((block) => !isToolResult(block))] }
}

/** Neighbouring attachments together, everything else alone. */
function runsOf(messages: readonly ViewMessage[]): readonly (readonly ViewMessage[])[] {
  const runs: ViewMessage[][] = []
  for (const message of messages) {
    const last = runs.at(-1)
    if (last?.[0]?.origin === 'attachment' && message.origin === 'attachment') last.push(message)
    else runs.push([message])
  }
  return runs
}

/** Injected context says that it is that, lest it be taken for something the person asked. */
function contextBlocks(attachments: readonly ViewMessage[]): readonly Block[] {
  const pieces = attachments.map(({ attachment, content }) => `# ${attachment ?? 'context'}\n${textOf(content)}`)
  const text = `<system-reminder>\nContext that may or may not be relevant:\n\n${pieces.join('\n\n')}\n</system-reminder>`
  const media = attachments.flatMap(({ content }) => blocksOf(content).filter(isMedia))
  return [{ type: 'text', text }, ...media]
}

/** One word for a mixed message: the part that decides how it may be treated. */
const weightiest: readonly Origin[] = ['summary', 'tool-result', 'human', 'meta', 'attachment']

function originOfAll(messages: readonly ViewMessage[]): Origin {
  const all = new Set(messages.map(({ origin }) => origin))
  return weightiest.find((origin) => all.has(origin)) ?? 'meta'
}
