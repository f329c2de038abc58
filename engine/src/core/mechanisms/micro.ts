// Three micro-compactions: they clear old tool results by size, by idle time, or by an edit of the provider's cache.
import { type CacheEditState, noCacheEdits } from '../cache/cache-watch.ts'
import { newestAnswerTime } from '../cache/economics.ts'
import { textOf } from '../message/message.ts'
import { type CacheEdit, declined, type PlannedItem } from '../ports/outcome.ts'
import { formatNumber } from '../tokens/figure.ts'
import { staleReads, type WhyStale } from '../tokens/file-reads.ts'
import { attachedFile } from '../transcript/format/attachments.ts'
import { clearedContext } from '../transcript/view/effects.ts'
import type { View } from '../transcript/view/fold.ts'
import {
  activeResults,
  type Clearable,
  callsIn,
  isCleared,
  isHelpful,
  itemOf,
  newestStaying,
  seenUpTo,
} from './clearable.ts'
import { firstMessage, freedAndWorth, planClearing, thinkingAfter, weighed } from './clearing.ts'
import type { Plan, PlanDeclined, PlanningMechanism, Situation } from './mechanism.ts'
import { clearToolUses } from './server-edits.ts'
import { isInDanger, sparesCompaction, worthIn } from './situation.ts'

/**
 * Clears stale results and then the oldest, if all together are too large. Keeps the newest few, and declines if it would save
 * little.
 */
export const microBySize = micro('micro-by-size', (view, situation, name) => {
  const { settings, explanation, weigher } = situation
  if (settings.microCompact !== 'always' && !explanation.isAboveWarning) {
    const { size, warning } = explanation
    const detail = `${formatNumber(size.tokens)} tokens are below the warning at ${formatNumber(warning.value)}.`
    return declined('below-warning', detail)
  }
  const { target, minFreed, keep } = settings.bySize
  const results = activeResults(view, situation)
  const chosen =
    results.length === 0
      ? []
      : chooseResults(results, {
          target,
          stale: staleReads(weigher.once(callsIn, view).answered, ({ result }) => isCleared(result)),
          staying: newestStaying(view, settings, { results, keep }),
          seen: seenUpTo(view),
        })
  const items = [...chosen, ...supersededMemory(view, situation)]
    .filter(isHelpful)
    .toSorted((a, b) => a.message - b.message)
  if (items.length === 0) return declined('nothing-to-do', 'No old tool result weighs on the context.')
  const saved = tokensOf(items)
  if (saved < minFreed) {
    const detail = `It would save ${formatNumber(saved)} tokens; below ${formatNumber(minFreed)} nothing is done.`
    return declined('too-little', detail)
  }
  const why = `tool results weigh ${formatNumber(tokensOf(results))} tokens`
  return planClearing(view, situation, { mechanism: name, why, items, serverKeeps: results.length - chosen.length })
})

const minute = 60_000

/** After a long pause the provider has dropped the prefix, so clearing costs nothing. */
export const microByIdle = micro('micro-by-idle', (view, situation, name) => {
  const { byIdle } = situation.settings
  const last = newestAnswerTime(view.messages)
  if (last === undefined) return declined('clock-unreliable', 'The newest answer has no time.')
  const gap = situation.now - last
  if (!(gap >= 0)) return declined('clock-unreliable', 'The newest answer is from the future.')
  const pause = `${formatNumber(gap / minute)} minutes since the newest answer`
  if (gap <= byIdle.minutes * minute)
    return declined('not-idle', `${pause}; more than ${formatNumber(byIdle.minutes)} are needed.`)
  const { items, staying } = allButNewest(view, situation, byIdle.keep)
  const cold: Situation = { ...situation, cache: { ...situation.cache, type: 'cold' } }
  const input = { mechanism: name, why: pause, items: items.filter(isHelpful), serverKeeps: staying }
  return notTooEarly(planClearing(view, cold, input), situation)
})

/**
 * While the cache is warm, asks the provider to delete old results from the cached prefix. The messages stay as they are. If the
 * provider cannot do that in place and results of finished turns may be cleared, the session clears them itself once that pays:
 * its stubs describe the results, short results stay, and it costs less than the provider's clearing, which also writes the
 * prefix again.
 */
export const microByCacheEdit: PlanningMechanism = {
  ...micro('micro-by-cache-edit', planCacheEdit),
  asksServer: true,
}

function planCacheEdit(view: View, situation: Situation, name: string): Plan | PlanDeclined {
  const { settings, client, cache, weigher, cacheEdits: { deleted } = noCacheEdits } = situation
  const { trigger } = settings.byCacheEdit
  if (!client.cacheEdits && !client.contextManagement && settings.keepFinished) {
    return declined('client-unable', 'The model client can neither edit a cache nor manage context.')
  }
  if (cache.type !== 'warm') return declined('cache-not-warm', `The cache is ${cache.type}.`)
  const { items, active, staying } = allButNewest(view, situation, settings.byCacheEdit.keep)
  if (active < trigger) {
    const detail = `${formatNumber(active)} results are active; from ${formatNumber(trigger)} on the old ones are deleted.`
    return declined('nothing-to-do', detail)
  }
  if (!client.cacheEdits && !settings.keepFinished) {
    const why = `${formatNumber(active)} tool results are in the context`
    const input = { mechanism: name, why, items: items.filter(isHelpful), serverKeeps: staying }
    return notTooEarly(planClearing(view, situation, input), situation)
  }
  const request = client.cacheEdits
    ? { cacheEdits: pinnedCacheEdits({ deleted: [...deleted, ...items.map(({ toolUseId }) => toolUseId)] }) }
    : // An API without such a block gets the same request through its context management.
      clearToolUses(view, situation, staying)?.request
  if (items.length === 0 || !request) return declined('nothing-to-do', 'There is nothing left to delete.')
  const why = `${formatNumber(active)} tool results are in the cached prefix`
  // The server would clear these results again in its own words and write the whole prefix anew.
  if (!client.cacheEdits && weigher.once(callsIn, view).answered.some(({ result }) => isCleared(result))) {
    return planClearing(view, situation, { mechanism: name, why, items: items.filter(isHelpful) })
  }
  const planned = {
    type: 'delegated',
    mechanism: name,
    why,
    items,
    thinking: thinkingAfter(view, situation, firstMessage(items)),
    request,
  } as const
  // A server that clears writes the prefix anew, so clearing must pay. A cache edit leaves the prefix in place.
  if (!client.cacheEdits) return weighed({ ...planned, ...freedAndWorth(view, situation, items) }, situation)
  const freed = Math.round(items.reduce((sum, { frees }) => sum + Math.max(0, frees), 0))
  return { ...planned, freed, worth: worthIn(situation, { freed, suffix: 0 }) }
}

/** A tenth of the standard window. A context of this size costs little, so nothing is cleared in it. */
const smallContext = 20_000
const smallShare = 0.1
/** Minimum for a larger context. Less saves only cents, even over a hundred requests. */
const minFreedEarly = 2_000
const minFreedShare = 0.01

/**
 * Results of finished turns are cleared long before space is short. The agent may need them again, so all of them stay while the
 * context is small, and later until enough can be cleared at once.
 */
function notTooEarly(plan: Plan | PlanDeclined, situation: Situation): Plan | PlanDeclined {
  const { settings, explanation } = situation
  if (plan.type === 'declined' || settings.keepFinished || !settings.weigh) return plan
  const { freed, worth } = plan
  if (sparesCompaction(situation, freed) || isInDanger(situation)) return plan
  const window = explanation.contextWindow.value
  const minSize = Math.min(smallContext, Math.floor(window * smallShare))
  const minFreed = Math.min(minFreedEarly, Math.floor(window * minFreedShare))
  const wait = (why: string) => ({ ...declined('too-little', why), worth })
  if (explanation.size.tokens < minSize) return wait(`Up to ${formatNumber(minSize)} tokens everything stays.`)
  if (freed >= minFreed) return plan
  return wait(`It would free ${formatNumber(freed)} tokens; below ${formatNumber(minFreed)} nothing is done.`)
}

type PlanNamed = (view: View, situation: Situation, name: string) => Plan | PlanDeclined

function micro(name: string, plan: PlanNamed): PlanningMechanism {
  return {
    name,
    plan: (view, situation) =>
      situation.settings.microCompact === false
        ? declined('turned-off', 'The setting microCompact is false.')
        : plan(view, situation, name),
  }
}

/** Sent with every request while the cache is hit. */
export function pinnedCacheEdits({ deleted }: Pick<CacheEditState, 'deleted'>): readonly CacheEdit[] {
  return deleted.map((id) => ({ type: 'delete', cache_reference: id }))
}

function allButNewest(view: View, situation: Situation, keep: number) {
  const results = activeResults(view, situation)
  const staying = newestStaying(view, situation.settings, { results, keep })
  const why = `not among the newest ${staying}`
  const items = results.slice(0, results.length - staying).map((result) => itemOf(result, why))
  return { items, staying, active: results.length }
}

function tokensOf(items: readonly { readonly tokens: number }[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0)
}

type Choosing = {
  /** Tokens of results that may stay. */
  readonly target: number
  readonly stale: ReadonlyMap<string, WhyStale>
  /** The number of newest results that stay. */
  readonly staying: number
  /** Results of messages before this one have been seen. */
  readonly seen: number
}

const whyStale = { 'read-again': 'read again further down', 'changed-since': 'changed since it was read' } as const

/** Takes all stale results that an answer has seen, then the oldest ones until the rest is below the target. */
function chooseResults(
  results: readonly Clearable[],
  { target, stale, staying, seen }: Choosing,
): readonly PlannedItem[] {
  const chosen: PlannedItem[] = []
  const others: Clearable[] = []
  for (const result of results) {
    const why = result.message < seen ? stale.get(result.toolUseId) : undefined
    if (why === undefined) others.push(result)
    else chosen.push(itemOf(result, whyStale[why]))
  }
  const newest = new Set(results.slice(results.length - staying))
  let remaining = tokensOf(others)
  for (const result of others) {
    if (remaining <= target || newest.has(result)) break
    if (!isHelpful(result)) continue
    chosen.push(itemOf(result, 'among the oldest'))
    remaining -= result.tokens
  }
  return chosen
}

/** `nested_memory` of Claude Code and similar kinds: memory, memory_file, relevant_memories … */
const memoryKind = /(^|_)memor(y|ies)(_|$)/

/** All copies but the newest of each memory file that was injected as an attachment. */
function supersededMemory({ sources, pins }: View, { weigher }: Situation): readonly PlannedItem[] {
  const copies = sources.flatMap(({ pieces }, message) =>
    pieces.flatMap(({ uuid, attachment, content }) => {
      if (uuid === undefined || !memoryKind.test(attachment ?? '')) return []
      const text = textOf(content)
      if (text === clearedContext) return []
      const path = attachedFile(text)?.path
      return [{ message, uuid, content, path, key: `${attachment} ${path ?? text}` }]
    }),
  )
  const newest = new Map(copies.map((copy) => [copy.key, copy]))
  const superseded = copies.filter((copy) => newest.get(copy.key) !== copy && !pins.includes(copy.uuid))
  return superseded.map(({ message, uuid, content, path }) => {
    const tokens = weigher.content(content)
    return {
      type: 'attachment',
      ...(path === undefined ? {} : { path }),
      uuids: [uuid],
      message,
      tokens: Math.round(tokens),
      frees: tokens - weigher.content(clearedContext),
      why: 'a newer copy follows',
    }
  })
}
