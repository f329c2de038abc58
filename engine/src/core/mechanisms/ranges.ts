// Stretches of a view as entries of the transcript: finding them, leaving out what is pinned, weighing them, and naming
// their ends. Shared by the mechanisms that take a stretch out and put something in its place.
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import { widened } from '../message/rounds.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { View } from '../transcript/view/fold.ts'
import { mergedMessages } from '../transcript/view/merge.ts'
import type { PlannedItem, Situation } from './mechanism.ts'
import { piecesOf } from './micro/clearable.ts'
import { boundThinking } from './micro/clearing.ts'
import type { Weigher } from './weigher.ts'

/** An entry in the view: the message it is merged into, and whether it must stay. */
export type Part = ViewMessage & { readonly piece: ViewMessage; readonly at: number; readonly isPinned: boolean }

/** The entries that show in the view; what an edit put there is no entry. */
export function partsOf(view: View): readonly Part[] {
  const pins = new Set(view.pins)
  const edits = new Set(view.edits.map(({ uuid }) => uuid))
  const isEntry = (piece: ViewMessage) => piece.uuid !== undefined && !edits.has(piece.uuid)
  return [...piecesOf(view)]
    .filter(([, piece]) => isEntry(piece))
    .map(([at, piece]) => ({ ...piece, piece, at, isPinned: pins.has(piece.uuid ?? '') }))
}

/** What lies between the pinned rounds: a pinned call keeps its result, and a pinned result its call. */
export function segmentsOf(
  parts: readonly Part[],
  { start, end }: { readonly start: number; readonly end: number },
): readonly (readonly Part[])[] {
  const isKept = new Set<number>()
  for (let at = start; at < end; at++) {
    if (!parts[at]?.isPinned) continue
    const round = widened(parts, { start: at, end: at + 1 })
    for (let near = round.start; near < round.end; near++) isKept.add(near)
  }
  const segments: Part[][] = []
  let current: Part[] | undefined
  for (let at = start; at < end; at++) {
    const part = parts[at]
    if (!part || isKept.has(at)) {
      current = undefined
      continue
    }
    if (!current) {
      current = []
      segments.push(current)
    }
    current.push(part)
  }
  return segments
}

/** What the messages weigh less without these parts: injected context has a frame, which goes with the last of it. */
export function weightOf({ messages, sources }: View, parts: readonly Part[], weigher: Weigher): number {
  const dropped = new Set(parts.map(({ piece }) => piece))
  let weight = 0
  for (const at of new Set(parts.map((part) => part.at))) {
    const left = (sources[at]?.pieces ?? []).filter((piece) => !dropped.has(piece))
    weight += weigher.content(messages[at]?.content ?? '')
    for (const { content } of mergedMessages(left)) weight -= weigher.content(content)
  }
  return weight
}

/** Bound thinking of what stays behind a change that takes these parts out. */
export function boundBehind(
  view: View,
  situation: Situation,
  {
    parts,
    dropped,
    first,
  }: { readonly parts: readonly Part[]; readonly dropped: ReadonlySet<Part>; readonly first: number },
): readonly PlannedItem[] {
  return boundThinking(view, situation, first - 1).filter(({ message }) =>
    parts.some((part) => part.at === message && !dropped.has(part)),
  )
}

/** Takes the thinking away that no longer fits the prefix. */
export function unthink(after: string | undefined, mechanism: string): readonly Edit[] {
  if (after === undefined) return []
  return [{ type: 'clear-thinking', after, mechanism, reason: 'bound to the prefix that changed' }]
}

/**
 * The view shows an answer's pieces before its results; in the transcript a result can stand between two pieces, and
 * when the last call was interrupted its piece is the last line of the round. Times tell, in this one case: elsewhere
 * they cannot be trusted, since a compaction moves what it keeps.
 */
export function lastWritten(parts: readonly Part[]): Part | undefined {
  const last = parts.at(-1)
  if (last?.origin !== 'tool-result') return last
  const answered = new Set(
    parts.filter(({ at }) => at === last.at).flatMap(({ content }) => blocksOf(content).filter(isToolResult).map(idOf)),
  )
  const isOpen = ({ role, at, content }: Part) =>
    role === 'assistant' &&
    at === last.at - 1 &&
    blocksOf(content).some((block) => isToolUse(block) && !answered.has(block.id))
  const open = parts.findLast(isOpen)
  return open?.time !== undefined && last.time !== undefined && open.time > last.time ? open : last
}

const idOf = ({ tool_use_id }: ToolResultBlock): string => tool_use_id
