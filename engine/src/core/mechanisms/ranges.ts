// Snip, and ranges of a view as entries of the transcript, with the plan that replaces them.

import { type MessageRange, widened } from '../message/cut-points.ts'
import { blocksOf, isToolResult, isToolUse, type ViewMessage } from '../message/message.ts'
import { declined, type PlannedItem } from '../ports/outcome.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { View } from '../transcript/view/fold.ts'
import { mergedMessages } from '../transcript/view/merge.ts'
import { boundThinking, planEdits } from './clearing.ts'
import type { Plan, PlanDeclined, PlanningMechanism, Situation } from './mechanism.ts'

export type SnipInput = {
  /** The first and last entry to remove, in either order. */
  readonly from: string
  readonly to: string
  /** One line. Default: a count of the removed messages. */
  readonly marker?: string
}

/** Replaces a range that the user or the model named by one line. The range grows to whole rounds; pinned entries stay. */
export function snip({ from, to, marker }: SnipInput): PlanningMechanism {
  const name = 'snip'
  return {
    name,
    plan: (view, situation) => {
      const parts = partsOf(view)
      const ends = [from, to].map((uuid) => parts.findIndex((part) => part.uuid === uuid))
      if (ends.some((at) => at < 0)) {
        const known = new Set(view.sources.flatMap(({ uuids }) => uuids))
        const missing = [from, to].filter((uuid) => !known.has(uuid))
        return missing.length === 0
          ? declined('nothing-to-do', 'It has left the view already.')
          : declined('range-unknown', `Not in the view: ${missing.join(', ')}.`)
      }
      const stretch = widened(parts, { start: Math.min(...ends), end: Math.max(...ends) + 1 })
      const replacements = segmentsOf(parts, stretch).flatMap((segment) => {
        const count = segment.length === 1 ? '1 entry' : `${formatNumber(segment.length)} entries`
        const text = (weight: number) =>
          marker ?? `[Removed from the context: ${count}, about ${formatNumber(weight)} tokens]`
        return replacementOf(view, situation, { parts: segment, text, why: 'named to be removed' })
      })
      if (replacements.length === 0) {
        const isPinned = parts.slice(stretch.start, stretch.end).some((part) => part.isPinned)
        return isPinned
          ? declined('range-pinned', 'What is not pinned in it weighs less than the line in its place.')
          : declined('nothing-to-do', 'It weighs less than the line that would stand in its place.')
      }
      return planRanges(view, situation, {
        mechanism: name,
        why: 'a range was named',
        parts,
        replacements,
        editOf: ({ text, ...range }) => ({ type: 'drop-range', ...range, marker: text, mechanism: name }),
      })
    },
  }
}

/** An entry in the view, with its message and whether it must stay. */
export type Part = ViewMessage & { readonly piece: ViewMessage; readonly at: number; readonly isPinned: boolean }

/** The entries that the view shows. Text that an edit inserted is not an entry. */
export function partsOf({ sources, pins, edits }: View): readonly Part[] {
  const pinned = new Set(pins)
  const editUuids = new Set(edits.map(({ uuid }) => uuid))
  return sources.flatMap(({ pieces }, at) =>
    pieces
      .filter(({ uuid }) => uuid !== undefined && !editUuids.has(uuid))
      .map((piece) => ({ ...piece, piece, at, isPinned: pinned.has(piece.uuid ?? '') })),
  )
}

/** The segments between pinned rounds. A pinned call keeps its result, and a pinned result its call. */
function segmentsOf(parts: readonly Part[], { start, end }: MessageRange): readonly (readonly Part[])[] {
  const kept = new Set<number>()
  for (let at = start; at < end; at++) {
    if (!parts[at]?.isPinned) continue
    const round = widened(parts, { start: at, end: at + 1 })
    for (let near = round.start; near < round.end; near++) kept.add(near)
  }
  const segments: Part[][] = []
  for (const [offset, part] of parts.slice(start, end).entries()) {
    const at = start + offset
    if (kept.has(at)) continue
    if (at === start || kept.has(at - 1)) segments.push([])
    segments.at(-1)?.push(part)
  }
  return segments
}

/** Entries to remove, and the text that replaces them. */
type Replacement = { readonly parts: readonly Part[]; readonly text: string; readonly item: PlannedItem }

/** Empty if the text would be as large as the entries. */
export function replacementOf(
  view: View,
  { weigher }: Situation,
  input: { readonly parts: readonly Part[]; readonly text: (weight: number) => string; readonly why: string },
): readonly Replacement[] {
  const { parts, why } = input
  const weight = weightOf(view, parts, weigher.content)
  const text = input.text(weight)
  const frees = weight - weigher.content(text)
  const uuids = parts.flatMap(({ uuid }) => uuid ?? [])
  const item: PlannedItem = {
    type: 'range',
    uuids,
    message: parts[0]?.at ?? 0,
    tokens: Math.round(weight),
    frees,
    why,
  }
  return frees > 0 ? [{ parts, text, item }] : []
}

/** How much lighter the messages are without these parts, including the frames of injected context. */
function weightOf(
  { messages, sources }: View,
  parts: readonly Part[],
  weigh: (content: ViewMessage['content']) => number,
): number {
  const dropped = new Set(parts.map(({ piece }) => piece))
  let weight = 0
  for (const at of new Set(parts.map((part) => part.at))) {
    const left = (sources[at]?.pieces ?? []).filter((piece) => !dropped.has(piece))
    weight += weigh(messages[at]?.content ?? '')
    for (const { content } of mergedMessages(left)) weight -= weigh(content)
  }
  return weight
}

type RangePlanInput = {
  readonly mechanism: string
  readonly why: string
  /** All entries of the view. */
  readonly parts: readonly Part[]
  readonly replacements: readonly Replacement[]
  readonly editOf: (range: { readonly from: string; readonly to: string; readonly text: string }) => Edit
}

export function planRanges(view: View, situation: Situation, input: RangePlanInput): Plan | PlanDeclined {
  const { mechanism, why, replacements } = input
  const [first] = replacements.toSorted((a, b) => a.item.message - b.item.message)
  const dropped = new Set(replacements.flatMap(({ parts }) => parts))
  const staying = new Set(input.parts.filter((part) => !dropped.has(part)).map(({ at }) => at))
  const later = boundThinking(view, situation, (first?.item.message ?? 0) - 1)
  return planEdits(view, situation, {
    mechanism,
    why,
    items: replacements.map(({ item }) => item),
    bound: later.filter(({ message }) => staying.has(message)),
    edits: replacements.map(({ parts, text }) => {
      const from = parts[0]?.uuid ?? ''
      return input.editOf({ from, to: lastWritten(parts)?.uuid ?? from, text })
    }),
    after: first?.parts[0]?.uuid,
  })
}

/**
 * An interrupted call can be written after the results of its round although the view shows it before them, so this compares
 * times.
 */
function lastWritten(parts: readonly Part[]): Part | undefined {
  const last = parts.at(-1)
  if (last?.origin !== 'tool-result') return last
  const results = parts
    .filter(({ at }) => at === last.at)
    .flatMap(({ content }) => blocksOf(content).filter(isToolResult))
  const answered = new Set(results.map(({ tool_use_id }) => tool_use_id))
  const isOpen = ({ role, at, content }: Part) =>
    role === 'assistant' &&
    at === last.at - 1 &&
    blocksOf(content).some((block) => isToolUse(block) && !answered.has(block.id))
  const open = parts.findLast(isOpen)
  return open?.time !== undefined && last.time !== undefined && open.time > last.time ? open : last
}
