// Shortens tool results that no answer has seen yet and that are too large to be sent: head and tail stay in their place,
// and a line says what is missing. They are never cleared or summarized unseen, or the model would ask for them again.
import { blocksOf, isText, isToolResult, type ToolResultBlock } from '../message/block.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { Edit } from '../transcript/format/edits.ts'
import { leastKept, shortenedResult } from '../transcript/view/edited.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Situation } from './mechanism.ts'
import { type Declined, declined, type Plan, type PlannedItem, type PlanningMechanism } from './mechanism.ts'
import { seenUpTo } from './micro/clearable.ts'
import { sums } from './micro/clearing.ts'

const name = 'shorten-results'

/** `room`: tokens that unseen results may take together. */
export function shortenResults({ room }: { readonly room: number }): PlanningMechanism {
  return { name, plan: (view, situation) => plan(view, situation, room) }
}

/** The message with the results that came after the newest answer; undefined when there are none. */
export function unseenResults(view: View): number | undefined {
  const at = seenUpTo(view) + 1
  return at > 0 && blocksOf(view.messages[at]?.content).some(isToolResult) ? at : undefined
}

type Unseen = { readonly result: ToolResultBlock; readonly uuid: string | undefined; readonly tokens: number }

function plan(view: View, situation: Situation, room: number): Plan | Declined {
  const message = unseenResults(view)
  const results = message === undefined ? [] : resultsAt(view, message, situation)
  const total = withMargin(results.reduce((sum, { tokens }) => sum + tokens, 0))
  if (message === undefined || total <= room) {
    return declined(name, 'nothing-to-do', `Results that are yet to be seen take ${formatNumber(total)} tokens.`)
  }
  const most = fairShare(
    results.map(({ tokens }) => tokens),
    (room * 3) / 4,
  )
  const { recall } = situation.settings
  const shortened = results.flatMap((one) => shortenedTo(one, { most, recall, message, situation }))
  if (shortened.length === 0) return declined(name, 'nothing-to-do', 'What is large in them is no text, or pinned.')
  const items = shortened.map(({ item }) => item)
  return {
    type: 'planned',
    mechanism: name,
    reason: `new tool results weigh ${formatNumber(total)} tokens`,
    items,
    ...sums(view, situation, items),
    thinking: 'untouched',
    outcome: { type: 'edits', edits: shortened.map(({ edit }) => edit) },
  }
}

function resultsAt({ sources, pins }: View, message: number, { weigher }: Situation): readonly Unseen[] {
  return (sources[message]?.pieces ?? []).flatMap(({ uuid, content, origin }) =>
    origin !== 'tool-result' || pins.includes(uuid ?? '')
      ? []
      : blocksOf(content)
          .filter(isToolResult)
          .map((result) => ({ result, uuid, tokens: weigher.block(result) })),
  )
}

/** So much each of them may have at most, that together they have no more than this. */
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

type Shortening = {
  readonly most: number
  readonly recall: boolean
  readonly message: number
  readonly situation: Situation
}

function shortenedTo(
  { result, uuid, tokens }: Unseen,
  { most, recall, message, situation }: Shortening,
): readonly { readonly item: PlannedItem; readonly edit: Edit }[] {
  if (tokens <= most) return []
  const texts = blocksOf(result.content).filter(isText)
  const characters = texts.reduce((sum, { text }) => sum + text.length, 0)
  const weight = texts.reduce((sum, block) => sum + situation.weigher.block(block), 0)
  const keep = Math.max(leastKept, Math.floor((characters * Math.max(0, most - (tokens - weight))) / weight))
  const left = situation.weigher.block({ ...result, content: shortenedResult(result, { keep, recall }) })
  if (left >= tokens) return []
  const id = result.tool_use_id
  const item: PlannedItem = {
    type: 'result',
    toolUseId: id,
    uuids: uuid === undefined ? [] : [uuid],
    message,
    tokens: Math.round(tokens),
    frees: tokens - left,
    why: 'too large to be sent',
  }
  const why = { mechanism: name, reason: 'too large to be sent' }
  return [{ item, edit: { type: 'clear-results', toolUseIds: [id], keep, ...(recall ? { recall } : {}), ...why } }]
}
