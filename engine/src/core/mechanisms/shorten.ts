// Shortens new tool results that are too large to be sent. They are never cleared unseen: the model would ask again.
import { blocksOf, isText, isToolResult, type ToolResultBlock } from '../message/block.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { Edit } from '../transcript/format/edits.ts'
import { leastKept, shortenedResult } from '../transcript/view/edited.ts'
import type { View } from '../transcript/view/fold.ts'
import {
  type Declined,
  declined,
  type Plan,
  type PlannedItem,
  type PlanningMechanism,
  type Situation,
} from './mechanism.ts'
import { seenUpTo } from './micro/clearable.ts'
import { sums } from './micro/clearing.ts'

const name = 'shorten-results'
const reason = 'too large to be sent'

/** `room`: tokens that unseen results may take together. */
export function shortenResults({ room }: { readonly room: number }): PlanningMechanism {
  return { name, plan: (view, situation) => plan(view, situation, room) }
}

/** The message with the results that came after the newest answer. */
export function unseenResults(view: View): number | undefined {
  const at = seenUpTo(view) + 1
  return at > 0 && blocksOf(view.messages[at]?.content).some(isToolResult) ? at : undefined
}

function plan(view: View, situation: Situation, room: number): Plan | Declined {
  const message = unseenResults(view)
  const pieces = (message === undefined ? undefined : view.sources[message]?.pieces) ?? []
  const results = pieces
    .filter(({ uuid, origin }) => origin === 'tool-result' && !view.pins.includes(uuid ?? ''))
    .flatMap(({ uuid, content }) =>
      blocksOf(content)
        .filter(isToolResult)
        .map((result) => ({ result, uuid, tokens: situation.weigher.block(result) })),
    )
  const weights = results.map(({ tokens }) => tokens)
  const total = withMargin(weights.reduce((sum, tokens) => sum + tokens, 0))
  if (message === undefined || total <= room) {
    return declined(name, 'nothing-to-do', `Results that are yet to be seen take ${formatNumber(total)} tokens.`)
  }
  const most = fairShare(weights, (room * 3) / 4)
  const items: PlannedItem[] = []
  const edits: Edit[] = []
  for (const { result, uuid, tokens } of results) {
    if (tokens <= most) continue
    const { keep, left } = shortenedTo(most, result, situation)
    if (left >= tokens) continue
    const { recall } = situation.settings
    const toolUseId = result.tool_use_id
    const uuids = uuid === undefined ? [] : [uuid]
    const weight = { tokens: Math.round(tokens), frees: tokens - left }
    items.push({ type: 'result', toolUseId, uuids, message, ...weight, why: reason })
    edits.push({
      type: 'clear-results',
      toolUseIds: [toolUseId],
      keep,
      ...(recall ? { recall } : {}),
      mechanism: name,
      reason,
    })
  }
  if (items.length === 0) return declined(name, 'nothing-to-do', 'What is large in them is no text, or pinned.')
  return {
    type: 'planned',
    mechanism: name,
    reason: `new tool results weigh ${formatNumber(total)} tokens`,
    items,
    ...sums(view, situation, items),
    thinking: 'untouched',
    outcome: { type: 'edits', edits },
  }
}

/** The most that each may have so that together they fit. */
function fairShare(tokens: readonly number[], room: number): number {
  const sorted = tokens.toSorted((a, b) => a - b)
  let left = room
  for (const [at, own] of sorted.entries()) {
    const share = left / (sorted.length - at)
    if (own > share) return share
    left -= own
  }
  return Number.POSITIVE_INFINITY
}

/** How many characters of its texts stay, and what it weighs then. */
function shortenedTo(most: number, result: ToolResultBlock, { weigher, settings: { recall } }: Situation) {
  const texts = blocksOf(result.content).filter(isText)
  const characters = texts.reduce((sum, { text }) => sum + text.length, 0)
  const weight = weigher.content(texts)
  const room = Math.max(0, most - (weigher.block(result) - weight))
  const keep = Math.max(leastKept, Math.floor((characters * room) / weight))
  return { keep, left: weigher.block({ ...result, content: shortenedResult(result, { keep, recall }) }) }
}
