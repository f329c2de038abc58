// Merges pieces, one for each entry, into the messages of a request: the pieces of an answer become one message, and everything
// from the user's side until the next answer becomes the message after it, results first. Same pieces, same bytes. Apart from
// pieces.ts, because compact() merges messages and needs no edits.
import {
  type Block,
  blocksOf,
  isMedia,
  isToolResult,
  type Origin,
  textOf,
  type ViewMessage,
} from '../../message/message.ts'
import { contextTokens } from '../../message/usage.ts'
import { contextFrame } from '../../text/neutralize.ts'

export type Source = {
  /** The entries, in order. A message that replaces a range lists all entries of the range. */
  readonly uuids: readonly string[]
  readonly edits: readonly string[]
  readonly isPinned: boolean
  /** The pieces of the message, one per entry or range. */
  readonly pieces: readonly ViewMessage[]
}

export type ViewPiece = {
  /** The row of its entry, or of the edit that replaced a range. */
  readonly row: number
  readonly message: ViewMessage
  /** The uuid of its entry, or of all entries in a range. */
  readonly uuids: readonly string[]
  readonly edits: readonly string[]
  readonly isPinned: boolean
  /** The merged message that begins with this piece, cached: the same pieces give the same object. */
  merged?: Merged
}

export type Merged = { readonly from: readonly ViewPiece[]; readonly message: ViewMessage; readonly source: Source }

export function mergePieces(pieces: readonly ViewPiece[]): Merged[] {
  // An answer, and the user's side after it.
  const newRound = (id: string | undefined) => ({
    id,
    said: [] as ViewPiece[],
    brought: [] as ViewPiece[],
    isClosed: false,
  })
  let round = newRound(undefined)
  const rounds = [round]
  for (const piece of pieces) {
    const { role, messageId, origin } = piece.message
    if (role === 'assistant') {
      if (messageId === undefined || messageId !== round.id || round.isClosed) {
        round = newRound(messageId)
        rounds.push(round)
      }
      round.said.push(piece)
    } else {
      round.brought.push(piece)
      // Codex rollouts give a whole history one id, but a user message ends an answer in any format.
      round.isClosed ||= origin !== 'tool-result' && origin !== 'attachment'
    }
  }
  const merged: Merged[] = []
  for (const { said, brought } of rounds) {
    if (said.length > 0) merged.push(mergedOf(said))
    if (brought.length > 0) merged.push(mergedOf(brought))
  }
  return merged
}

/** Number of messages before the last round, which the next piece may extend. */
export function beforeLastRound(merged: readonly Merged[]): number {
  const isLastAnswered = merged.at(-1)?.message.role === 'user' && merged.length > 1
  return Math.max(0, merged.length - (isLastAnswered ? 2 : 1))
}

/** Merges the messages of entries, in the order of the view. */
export function mergedMessages(pieces: readonly ViewMessage[]): readonly ViewMessage[] {
  const merged = mergePieces(pieces.map((message) => ({ row: -1, message, uuids: [], edits: [], isPinned: false })))
  return merged.map(({ message }) => message)
}

function mergedOf(pieces: readonly ViewPiece[]): Merged {
  const first = pieces[0] as ViewPiece
  const known = first.merged
  if (known && known.from.length === pieces.length && known.from.every((piece, at) => piece === pieces[at]))
    return known
  const own = pieces.map(({ message }) => message)
  const message = first.message.role === 'assistant' ? mergeAnswer(own) : mergeUser(own)
  const source: Source = {
    uuids: pieces.length === 1 ? first.uuids : pieces.flatMap(({ uuids }) => uuids),
    edits: pieces.length === 1 ? first.edits : [...new Set(pieces.flatMap(({ edits }) => edits))],
    isPinned: pieces.some(({ isPinned }) => isPinned),
    pieces: own,
  }
  first.merged = { from: pieces, message, source }
  return first.merged
}

/** The usage is that of the piece with the most output, because old clients wrote stubs first. */
function mergeAnswer(pieces: readonly ViewMessage[]): ViewMessage {
  const first = pieces[0] as ViewMessage
  if (pieces.length === 1) return first
  let best = first
  for (const message of pieces) {
    if (!message.usage || message === first) continue
    if (!best.usage || contextTokens(message.usage) >= contextTokens(best.usage)) best = message
  }
  const content = pieces.flatMap((message) => blocksOf(message.content))
  const { model, usage } = best
  return { ...first, content, ...(model === undefined ? {} : { model }), ...(usage === undefined ? {} : { usage }) }
}

function mergeUser(messages: readonly ViewMessage[]): ViewMessage {
  const [first] = messages
  if (first && messages.length === 1 && first.origin !== 'attachment') {
    const content = typeof first.content === 'string' ? first.content : resultsFirst(first.content)
    return content === first.content ? first : { ...first, content }
  }
  const { uuid, time } = first ?? {}
  const kind = first?.attachment
  const isOfOneKind = kind !== undefined && messages.every(({ attachment }) => attachment === kind)
  return {
    role: 'user',
    content: contentOfAll(messages),
    origin: originOfAll(messages),
    ...(uuid === undefined ? {} : { uuid }),
    ...(time === undefined ? {} : { time }),
    ...(isOfOneKind ? { attachment: kind } : {}),
  }
}

function contentOfAll(messages: readonly ViewMessage[]): readonly Block[] {
  const runs = runsOf(messages).map((run) =>
    run[0]?.origin === 'attachment' ? contextBlocks(run) : blocksOf(run[0]?.content),
  )
  return resultsFirst(runs.length === 1 ? (runs[0] ?? []) : runs.flat())
}

/** Returns the same list unless something comes before a result. */
function resultsFirst(blocks: readonly Block[]): readonly Block[] {
  const firstOther = blocks.findIndex((block) => !isToolResult(block))
  const isSorted = firstOther < 0 || !blocks.some((block, at) => at > firstOther && isToolResult(block))
  return isSorted ? blocks : [...blocks.filter(isToolResult), ...blocks.filter((block) => !isToolResult(block))]
}

/** Groups adjacent attachments; every other message is alone. */
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

/** The origin of a mixed message is the first of these that it contains. */
const weightiest: readonly Origin[] = ['summary', 'tool-result', 'human', 'agent', 'meta', 'attachment']

function originOfAll(messages: readonly ViewMessage[]): Origin {
  return weightiest.find((origin) => messages.some((message) => message.origin === origin)) ?? 'meta'
}
