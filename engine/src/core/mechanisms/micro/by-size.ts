// Micro-compact by size: clears stale tool results, then the oldest, if they weigh too much. Never the newest few, and
// nothing if little would be saved.
import { textOf } from '../../message/block.ts'
import { parseObject, stringAt } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'
import { formatNumber } from '../../tokens/figure.ts'
import { staleReads, type WhyStale } from '../../tokens/file-reads.ts'
import { clearedContext } from '../../transcript/view/effects.ts'
import type { View } from '../../transcript/view/fold.ts'
import {
  type Declined,
  declined,
  type Plan,
  type PlannedItem,
  type PlanningMechanism,
  type Situation,
} from '../mechanism.ts'
import { activeResults, type Clearable, callsIn, isCleared, itemOf, newestStaying, seenUpTo } from './clearable.ts'
import { planClearing } from './clearing.ts'

const name = 'micro-by-size'

export const microBySize: PlanningMechanism = { name, plan }

function plan(view: View, situation: Situation): Plan | Declined {
  const { settings, explanation, weigher } = situation
  if (settings.microCompact === false) return declined(name, 'turned-off', 'The setting microCompact is false.')
  if (settings.microCompact !== 'always' && !explanation.isAboveWarning) {
    const { size, warning } = explanation
    const detail = `${formatNumber(size.tokens)} tokens are below the warning at ${formatNumber(warning.value)}.`
    return declined(name, 'below-warning', detail)
  }
  const { target, least, keep } = settings.bySize
  const results = activeResults(view, situation)
  const { chosen, total } = choose(results, {
    target,
    stale: staleReads(weigher.once(callsIn, view).answered, ({ result }) => isCleared(result)),
    staying: newestStaying(view, settings, { results, keep }),
    seen: seenUpTo(view),
  })
  const items = [...chosen, ...supersededMemory(view, situation)]
    .filter(({ frees }) => frees > 0)
    .toSorted((a, b) => a.message - b.message)
  if (items.length === 0) return declined(name, 'nothing-to-do', 'No old tool result weighs on the context.')
  const saved = items.reduce((sum, { tokens }) => sum + tokens, 0)
  if (saved < least) {
    const detail = `It would save ${formatNumber(saved)} tokens; below ${formatNumber(least)} nothing is done.`
    return declined(name, 'too-little', detail)
  }
  const reason = `tool results weigh ${formatNumber(total)} tokens`
  return planClearing(view, situation, {
    mechanism: name,
    reason,
    items,
    serverKeeps: results.length - chosen.length,
  })
}

type Choosing = {
  /** Tokens of results that may remain. */
  readonly target: number
  readonly stale: ReadonlyMap<string, WhyStale>
  /** So many of the newest stay. */
  readonly staying: number
  /** Results of messages before this one have been seen. */
  readonly seen: number
}

const whyStale = { 'read-again': 'read again further down', 'changed-since': 'changed since it was read' } as const

/** Stale reads all go once an answer has seen them; then the oldest, while too much remains. */
function choose(results: readonly Clearable[], { target, stale, staying, seen }: Choosing) {
  const chosen: PlannedItem[] = []
  const others: Clearable[] = []
  let remaining = 0
  let total = 0
  for (const result of results) {
    const why = result.message < seen ? stale.get(result.toolUseId) : undefined
    total += result.tokens
    if (why !== undefined) {
      chosen.push(itemOf(result, whyStale[why]))
      continue
    }
    others.push(result)
    remaining += result.tokens
  }
  const newest = new Set(results.slice(results.length - staying))
  for (const result of others) {
    if (remaining <= target || newest.has(result)) break
    if (result.frees <= 0) continue
    chosen.push(itemOf(result, 'among the oldest'))
    remaining -= result.tokens
  }
  return { chosen, total }
}

/** nested_memory of Claude Code and its likes: memory, memory_file, relevant_memories … */
const memoryKind = /(^|_)memor(y|ies)(_|$)/

/** All but the newest copy of each memory file that was injected as an attachment. */
function supersededMemory({ sources, pins }: View, { weigher }: Situation): readonly PlannedItem[] {
  const later = new Set<string>()
  const isMemory = ({ attachment }: ViewMessage) => attachment !== undefined && memoryKind.test(attachment)
  const copies = sources.flatMap(({ pieces }, message) => pieces.filter(isMemory).map((piece) => ({ message, piece })))
  const found = copies
    .reverse()
    .flatMap(({ message, piece: { uuid, attachment, content } }): readonly PlannedItem[] => {
      const text = textOf(content)
      if (uuid === undefined || text === clearedContext) return []
      // Attachments without text of their own are shown as JSON; the path is in there.
      const path = text.startsWith('{') ? stringAt(parseObject(text), 'path') : undefined
      const key = `${attachment} ${path ?? text}`
      if (!later.has(key)) {
        later.add(key)
        return []
      }
      if (pins.includes(uuid)) return []
      const tokens = weigher.content(content)
      return [
        {
          type: 'attachment',
          ...(path === undefined ? {} : { path }),
          uuids: [uuid],
          message,
          tokens: Math.round(tokens),
          frees: tokens - weigher.content(clearedContext),
          why: 'a newer copy stands further down',
        },
      ]
    })
  return found.reverse()
}
