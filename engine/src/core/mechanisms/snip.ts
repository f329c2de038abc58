// Snip: a stretch that the user or the model named leaves the view, one line stands in its place. The stretch grows to
// whole rounds so that no pair is split; what is pinned stays; the originals stay in the transcript.
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import { widened } from '../message/rounds.ts'
import { inWords } from '../tokens/figure.ts'
import type { Edit } from '../transcript/edits.ts'
import type { View } from '../transcript/fold.ts'
import { mergeRound } from '../transcript/merge.ts'
import { piecesOf } from './clearable.ts'
import { boundThinking, sums } from './clearing.ts'
import {
  type Declined,
  declined,
  type Mechanism,
  type Plan,
  type PlannedItem,
  performPlan,
  type Situation,
} from './mechanism.ts'
import type { Weigher } from './weigher.ts'

const name = 'snip'

export type SnipInput = {
  /** The first and the last entry to go, in either order. */
  readonly from: string
  readonly to: string
  /** One line; a count of what is gone when not given. */
  readonly marker?: string
}

export function snip(input: SnipInput): Mechanism {
  return { name, plan: (view, situation) => plan(view, situation, input), perform: performPlan(name) }
}

type Part = ViewMessage & { readonly piece: ViewMessage; readonly at: number; readonly isPinned: boolean }
type Segment = { readonly parts: readonly Part[]; readonly marker: string; readonly item: PlannedItem }

function plan(view: View, situation: Situation, input: SnipInput): Plan | Declined {
  const parts = partsOf(view)
  const ends = [input.from, input.to].map((uuid) => parts.findIndex((part) => part.uuid === uuid))
  if (ends.some((at) => at < 0)) return notThere(view, input)
  const stretch = widened(parts, { start: Math.min(...ends), end: Math.max(...ends) + 1 })
  const all = segmentsOf(parts, stretch).map((segment) => measured(view, segment, { situation, input }))
  const segments = all.filter(({ item }) => item.frees > 0)
  const first = segments[0]
  if (!first) {
    const isPinned = parts.slice(stretch.start, stretch.end).some((part) => part.isPinned)
    return isPinned
      ? declined(name, 'range-pinned', 'What is not pinned in it weighs less than the line in its place.')
      : declined(name, 'nothing-to-do', 'It weighs less than the line that would stand in its place.')
  }
  const dropped = new Set(segments.flatMap((segment) => segment.parts))
  const bound = boundThinking(view, situation, first.item.message - 1).filter(({ message }) =>
    parts.some((part) => part.at === message && !dropped.has(part)),
  )
  if (bound.length > 0 && situation.settings.boundThinking === 'decline') {
    return declined(name, 'thinking-bound', 'The model binds its thinking to the prefix that would change.')
  }
  const items = [...segments.map(({ item }) => item), ...bound]
  return {
    type: 'planned',
    mechanism: name,
    reason: 'a stretch was named',
    items,
    ...sums(view, situation, items),
    thinking: bound.length > 0 ? 'removed' : 'untouched',
    outcome: { type: 'edits', edits: editsFor(segments, bound.length > 0) },
  }
}

function notThere(view: View, { from, to }: SnipInput): Declined {
  const known = new Set(view.sources.flatMap(({ uuids }) => uuids))
  const missing = [from, to].filter((uuid) => !known.has(uuid))
  return missing.length === 0
    ? declined(name, 'nothing-to-do', 'It has left the view already.')
    : declined(name, 'range-unknown', `Not in the view: ${missing.join(', ')}.`)
}

/** The entries that show in the view; what an edit put there is no entry. */
function partsOf(view: View): readonly Part[] {
  const pins = new Set(view.pins)
  const edits = new Set(view.edits.map(({ uuid }) => uuid))
  const isEntry = (piece: ViewMessage) => piece.uuid !== undefined && !edits.has(piece.uuid)
  return [...piecesOf(view)]
    .filter(([, piece]) => isEntry(piece))
    .map(([at, piece]) => ({ ...piece, piece, at, isPinned: pins.has(piece.uuid ?? '') }))
}

/** What lies between the pinned rounds: a pinned call keeps its result, and a pinned result its call. */
function segmentsOf(
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

function measured(
  view: View,
  parts: readonly Part[],
  { situation, input }: { readonly situation: Situation; readonly input: SnipInput },
): Segment {
  const { weigher } = situation
  const { marker } = input
  const weight = weightOf(view, parts, weigher)
  const count = parts.length === 1 ? '1 entry' : `${inWords(parts.length)} entries`
  const line = marker ?? `[Removed from the context: ${count}, about ${inWords(weight)} tokens]`
  const item: PlannedItem = {
    type: 'range',
    uuids: parts.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid])),
    message: parts[0]?.at ?? 0,
    tokens: Math.round(weight),
    frees: weight - weigher.content(line),
    why: 'named to be removed',
  }
  return { parts, marker: line, item }
}

/** What the messages weigh less without these parts: injected context has a frame, which goes with the last of it. */
function weightOf({ messages, sources }: View, parts: readonly Part[], weigher: Weigher): number {
  const dropped = new Set(parts.map(({ piece }) => piece))
  let weight = 0
  for (const at of new Set(parts.map((part) => part.at))) {
    const left = (sources[at]?.pieces ?? []).filter((piece) => !dropped.has(piece))
    const rest = mergeRound(
      left.map((message) => ({ message, uuids: [], edits: [], isPinned: false, row: 0, place: 0 })),
    )
    weight += weigher.content(messages[at]?.content ?? '')
    for (const { message } of rest) weight -= weigher.content(message.content)
  }
  return weight
}

function editsFor(segments: readonly Segment[], isUnthought: boolean): readonly Edit[] {
  const drops = segments.map(({ parts, marker }): Edit => {
    const from = parts[0]?.uuid ?? ''
    return { type: 'drop-range', from, to: lastWritten(parts)?.uuid ?? from, marker, mechanism: name }
  })
  const after = segments[0]?.parts[0]?.uuid
  if (!isUnthought || after === undefined) return drops
  return [...drops, { type: 'clear-thinking', after, mechanism: name, reason: 'bound to the prefix that changed' }]
}

/**
 * The view shows an answer's pieces before its results; in the transcript a result can stand between two pieces, and
 * when the last call was interrupted its piece is the last line of the round. Times tell, in this one case: elsewhere
 * they cannot be trusted, since a compaction moves what it keeps.
 */
function lastWritten(parts: readonly Part[]): Part | undefined {
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
