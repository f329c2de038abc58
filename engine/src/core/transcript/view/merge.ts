// From pieces, one for each entry, to the messages a request carries: the pieces of an answer are one message, what
// comes from the user until the next answer is one message behind it, results first. Same pieces, same bytes.
import { type Block, blocksOf, isMedia, isToolResult, textOf } from '../../message/block.ts'
import type { Origin, ViewMessage } from '../../message/message.ts'
import { contextFrame } from '../../message/reminder.ts'
import { contextTokens } from '../../message/usage.ts'
import type { Edited } from './effects.ts'

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
  const { answer, rest } = sidesOf(pieces)
  const said = answer[0] && made(answer, answer[0], mergeAnswer(answer))
  const brought = rest[0] && made(rest, rest[0], mergeUser(rest.map(messageOfPiece)))
  // Written out, here and below: a list that is pushed to keeps room for a dozen more, and there are many of these.
  if (said && brought) return [said, brought]
  return said ? [said] : brought ? [brought] : []
}

/** Mostly all of the answer comes first. By index, here and below: a fold does this for every message there is. */
function sidesOf(pieces: readonly Piece[]): { readonly answer: readonly Piece[]; readonly rest: readonly Piece[] } {
  const isAnswer = ({ message }: Piece) => message.role === 'assistant'
  let end = 0
  while (end < pieces.length && pieces[end]?.message.role === 'assistant') end++
  if (end === pieces.length) return { answer: pieces, rest: noPieces }
  for (let at = end + 1; at < pieces.length; at++) {
    if (pieces[at]?.message.role !== 'assistant') continue
    return { answer: pieces.filter(isAnswer), rest: pieces.filter((piece) => !isAnswer(piece)) }
  }
  return end === 0 ? { answer: noPieces, rest: pieces } : { answer: pieces.slice(0, end), rest: pieces.slice(end) }
}

const noPieces: readonly Piece[] = []
const messageOfPiece = ({ message }: Piece) => message

function made(pieces: readonly Piece[], { row, place }: Piece, message: ViewMessage): MergedMessage {
  return { message, source: sourceOf(pieces), row, place }
}

/**
 * The same message with its pieces as edits leave them now; none of them stands for a range. The very same where nothing
 * changes; undefined where it has to be put together again.
 */
export function amendedMessage(
  before: MergedMessage,
  edited: (piece: ViewMessage) => Edited,
): MergedMessage | undefined {
  const { source, row, place } = before
  const count = source.pieces.length
  let pieces: ViewMessage[] | undefined
  let edits = noEdits
  let content: Block[] | undefined
  let isPlain = true
  let next = 0
  for (let at = 0; at < count; at++) {
    const piece = source.pieces[at] as ViewMessage
    const now = edited(piece)
    if (now.edits.length > 0) edits = edits.length === 0 ? now.edits : [...new Set([...edits, ...now.edits])]
    if (now.message === piece) continue
    if (!now.message) return undefined
    pieces ??= count === 1 ? [now.message] : [...source.pieces]
    pieces[at] = now.message
    isPlain &&= count > 1 && typeof piece.content !== 'string' && typeof now.message.content !== 'string'
    if (!isPlain) continue
    content ??= [...blocksOf(before.message.content)]
    next = exchangeBlocks(content, { from: next, old: piece.content, fresh: now.message.content })
  }
  if (!pieces && isSameList(edits, source.edits)) return before
  const message = amended(before.message, { pieces, content: isPlain ? content : undefined })
  const { uuids, isPinned } = source
  return message && { message, source: { uuids, edits, isPinned, pieces: pieces ?? source.pieces }, row, place }
}

type Amended = { readonly pieces: readonly ViewMessage[] | undefined; readonly content: readonly Block[] | undefined }

function amended(before: ViewMessage, { pieces, content }: Amended): ViewMessage | undefined {
  if (!pieces) return before
  return content ? { ...before, content } : mergedSide(pieces)
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at])
}

/** Of one piece, or with attachments, which are put together in one text. */
function mergedSide(pieces: readonly ViewMessage[]): ViewMessage | undefined {
  if (pieces[0]?.role !== 'assistant') return mergeUser(pieces)
  return pieces.length === 1 ? pieces[0] : undefined
}

type Exchange = {
  /** Where to look first: they mostly stand in the order of the pieces. */
  readonly from: number
  readonly old: ViewMessage['content']
  readonly fresh: ViewMessage['content']
}

/** Returns where the next ones are likely to stand. */
function exchangeBlocks(content: Block[], { from, old, fresh }: Exchange): number {
  let next = from
  for (let at = 0; at < old.length; at++) {
    if (fresh[at] === old[at]) continue
    const ahead = content.indexOf(old[at] as Block, next)
    const place = ahead < 0 ? content.indexOf(old[at] as Block) : ahead
    content[place] = fresh[at] as Block
    next = place + 1
  }
  return next
}

const noEdits: readonly string[] = []

function sourceOf(pieces: readonly Piece[]): Source {
  const first = pieces[0]
  if (pieces.length === 1 && first && typeof first.uuids === 'string') {
    return { uuids: [first.uuids], edits: first.edits, isPinned: first.isPinned, pieces: [first.message] }
  }
  let isPlain = true
  let isPinned = false
  for (const piece of pieces) {
    isPlain &&= typeof piece.uuids === 'string' && piece.edits.length === 0
    isPinned ||= piece.isPinned
  }
  const uuids = pieces.map((piece) => piece.uuids)
  return {
    uuids: isPlain ? (uuids as string[]) : uuids.flat(),
    edits: isPlain ? noEdits : [...new Set(pieces.flatMap(({ edits }) => edits))],
    isPinned,
    pieces: pieces.map(messageOfPiece),
  }
}

/** Its usage is that of the piece with the most output: old clients wrote stubs with the first ones. */
function mergeAnswer(pieces: readonly Piece[]): ViewMessage {
  const first = pieces[0]?.message
  if (!first || pieces.length === 1) return first ?? { role: 'assistant', content: '', origin: 'assistant' }
  let best = first
  for (const { message } of pieces) {
    if (!message.usage || message === first) continue
    const isSame = message.usage === best.usage
    if (isSame || !best.usage || contextTokens(message.usage) >= contextTokens(best.usage)) best = message
  }
  const content = contentOfPieces(pieces)
  const { model, usage } = best
  const { role, origin, uuid, time, messageId } = first
  // At one stroke, as the pieces are made: messages of few shapes are read faster by everybody.
  if (uuid !== undefined && time !== undefined && messageId !== undefined && model !== undefined && usage) {
    return { role, content, origin, uuid, time, messageId, model, usage }
  }
  return { ...first, content, ...(model === undefined ? {} : { model }), ...(usage === undefined ? {} : { usage }) }
}

/** A list of just the length that is needed: most pieces are one block. */
function contentOfPieces(pieces: readonly Piece[]): readonly Block[] {
  let isSingle = true
  for (const { message } of pieces) isSingle &&= typeof message.content !== 'string' && message.content.length === 1
  return isSingle
    ? pieces.map(({ message }) => message.content[0] as Block)
    : pieces.flatMap(({ message }) => blocksOf(message.content))
}

function mergeUser(messages: readonly ViewMessage[]): ViewMessage {
  const [first] = messages
  if (first && messages.length === 1 && first.origin !== 'attachment') return resultsFirst(first)
  const { uuid, time } = first ?? {}
  const kind = first?.attachment
  const isOfOneKind = kind !== undefined && messages.every(({ attachment }) => attachment === kind)
  if (uuid !== undefined && time !== undefined && !isOfOneKind) {
    return { role: 'user', content: contentOfAll(messages), origin: originOfAll(messages), uuid, time }
  }
  return {
    role: 'user',
    content: contentOfAll(messages),
    origin: originOfAll(messages),
    ...(uuid === undefined ? {} : { uuid }),
    ...(time === undefined ? {} : { time }),
    ...(isOfOneKind ? { attachment: kind } : {}),
  }
}

/** Results first. */
function contentOfAll(messages: readonly ViewMessage[]): readonly Block[] {
  const runs = runsOf(messages).map((run) =>
    run[0]?.origin === 'attachment' ? contextBlocks(run) : blocksOf(run[0]?.content),
  )
  const blocks = runs.length === 1 ? (runs[0] ?? []) : runs.flat()
  return isSorted(blocks) ? blocks : [...blocks.filter(isToolResult), ...blocks.filter((block) => !isToolResult(block))]
}

function isSorted(blocks: readonly Block[]): boolean {
  const firstOther = blocks.findIndex((block) => !isToolResult(block))
  return firstOther < 0 || !blocks.some((block, at) => at > firstOther && isToolResult(block))
}

/** The very same message unless something stands before a result. */
function resultsFirst(message: ViewMessage): ViewMessage {
  const { content } = message
  if (typeof content === 'string') return message
  if (isSorted(content)) return message
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

function contextBlocks(attachments: readonly ViewMessage[]): readonly Block[] {
  const pieces = attachments.map(({ attachment = 'context', content }) => {
    return `# ${attachment.replace(/\s+/g, ' ')}\n${textOf(content)}`
  })
  const text = contextFrame(pieces)
  const media = attachments.flatMap(({ content }) => blocksOf(content).filter(isMedia))
  return [{ type: 'text', text }, ...media]
}

/** One word for a mixed message: the part that decides how it may be treated. */
const weightiest: readonly Origin[] = ['summary', 'tool-result', 'human', 'agent', 'meta', 'attachment']

function originOfAll(messages: readonly ViewMessage[]): Origin {
  return weightiest.find((origin) => messages.some((message) => message.origin === origin)) ?? 'meta'
}
