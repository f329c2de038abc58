// Repairs the requests of one conversation, one after another: what was repaired before and is still there is not looked
// at again. The outcome is that of a repair from scratch, in the same order.

import { blocksOf, isThinking, isToolResult, isToolUse } from '../message/block.ts'
import type { Message, Role } from '../message/message.ts'
import { pairHalfOf } from '../message/pairing.ts'
import { sameStart } from '../message/same-start.ts'
import { wellFormed } from '../text/well-formed.ts'
import { type Draft, draftOf, messageOfDraft, note, type Repair } from './draft.ts'
import { mendDrafts, type Repaired, type RepairOptions, type Step } from './repair.ts'
import { isSound } from './sound.ts'

/**
 * Messages, and the set of changed ones, are told apart by identity: neither may be altered once it was handed in. The
 * very array that was given comes back when nothing had to be done.
 */
export type Repairer = (messages: readonly Message[], options?: RepairOptions) => Repaired

export function createRepairer(): Repairer {
  const repairing = new Repairing()
  return (messages, options = {}) => repairing.repair(messages, options)
}

/** Messages in a row that are repaired by themselves: nothing in them has to do with anything outside. */
type Stretch = {
  readonly start: number
  readonly end: number
  /** Of the calls and results in it. No other stretch has any of them. */
  readonly ids: readonly string[]
  /** Messages that hold thinking, and those of them that count as changed. */
  readonly thinking: readonly number[]
  readonly changed: ReadonlySet<number>
  readonly messages: readonly Message[]
  readonly steps: readonly Step[]
}

/** Where a stretch that does not stand by itself has to be widened: to before it, or further on. */
type Wider = { readonly type: 'begin-at'; readonly start: number } | { readonly type: 'go-on' }
type Attempt = { readonly type: 'stretch'; readonly stretch: Stretch } | Wider
type Job = { readonly messages: readonly Message[]; readonly options: RepairOptions }

/** The end of a conversation is repaired each time, up to about so many messages. */
const shortStretch = 8
/** Where much is new at once, few long stretches cost less than many short ones. */
const longStretch = 64

class Repairing {
  private job: Job = { messages: [], options: {} }
  private readonly stretches: Stretch[] = []
  /** By id of a call: where the stretch that has it begins. */
  private readonly owners = new Map<string, number>()
  /** What the stretches became, and the repairs of all of them by pass. */
  private readonly mended: Message[] = []
  private readonly repairs: Repair[][] = []
  private repairCount = 0

  repair(messages: readonly Message[], options: RepairOptions): Repaired {
    const job = { messages, options }
    this.forget(this.firstOther(job))
    this.job = job
    const end = this.settle()
    const { steps } = end
    if (this.repairCount + steps.length === 0) return { messages, repairs: [] }
    return { messages: this.mended.concat(end.messages), repairs: this.repairsWith(steps) }
  }

  /** The first stretch that the new request does not have as it was. */
  private firstOther({ messages, options }: Job): number {
    const { job: known, stretches } = this
    if (known.options.thinking !== options.thinking) return 0
    const same = sameStart(known.messages, messages)
    let first = stretches.length
    while (first > 0 && !isWithin(stretches[first - 1], messages, same)) first--
    if (options.thinking !== 'strip-changed' || known.options.changed === options.changed) return first
    const { changed } = options
    const isOther = (one: Stretch) =>
      one.thinking.some((index) => one.changed.has(index) !== (changed?.has(index) === true))
    const other = stretches.findIndex(isOther)
    return other < 0 ? first : Math.min(first, other)
  }

  /** Makes stretches as far as that goes, and returns the end that is left over, which is repaired but not kept. */
  private settle(): Stretch {
    const { length } = this.job.messages
    let least = 0
    for (;;) {
      const start = this.stretches.at(-1)?.end ?? 0
      const size = length - start > 4 * longStretch ? longStretch : shortStretch
      const end = nextSeam(this.job.messages, Math.max(start + size, least))
      const attempt = this.attempt(start, end ?? length)
      if (attempt.type === 'stretch') {
        if (end === undefined) return attempt.stretch
        this.keep(attempt.stretch)
        continue
      }
      // Twice as far each time, so that no conversation costs more than a few repairs from scratch.
      least = attempt.type === 'go-on' && end !== undefined ? 2 * end - start : Math.max(least, end ?? length)
      if (attempt.type === 'begin-at') this.forget(this.indexOf(attempt.start))
    }
  }

  private attempt(start: number, end: number): Attempt {
    const { messages, options } = this.job
    const isEnd = end === messages.length
    const own = messages.slice(start, end)
    const ids = idsIn(own)
    const owner = this.firstOwner(ids)
    if (owner !== undefined) return { type: 'begin-at', start: owner }
    const { thinking } = options
    if (isSound(own, { first: start === 0 ? 'user' : (own[0]?.role ?? 'user'), thinking })) {
      const known = { thinking: thinkingIn(own, start), changed: new Set<number>() }
      return { type: 'stretch', stretch: { start, end, ids, ...known, messages: own, steps: [] } }
    }
    const front = start === 0 ? [] : own[0]?.role === 'user' ? [someUser, someAnswer] : [someUser]
    const back = isEnd ? [] : [own.at(-1)?.role === 'user' ? someAnswer : someUser]
    const given = [...front, ...own.map((message, at) => draftOf(message, start + at)), ...back]
    const { drafts, steps } = mendDrafts(given, options)
    const left = drafts.slice(front.length, drafts.length - back.length)
    if (!front.every((draft, at) => drafts[at] === draft) || (start > 0 && left.length === 0)) {
      return { type: 'begin-at', start: this.stretches.at(-1)?.start ?? 0 }
    }
    const isWhole = back.every((draft) => drafts.at(-1) === draft) && (isEnd || left.length > 0)
    if (!isWhole) return { type: 'go-on' }
    const found = thinkingIn(own, start)
    const changed = new Set(found.filter((index) => options.changed?.has(index)))
    return {
      type: 'stretch',
      stretch: { start, end, ids, thinking: found, changed, messages: left.map(messageOfDraft), steps },
    }
  }

  private firstOwner(ids: readonly string[]): number | undefined {
    let first: number | undefined
    for (const id of ids) {
      const owner = this.owners.get(id)
      if (owner !== undefined && (first === undefined || owner < first)) first = owner
    }
    return first
  }

  private indexOf(start: number): number {
    return this.stretches.findLastIndex((stretch) => stretch.start <= start)
  }

  private keep(stretch: Stretch): void {
    this.stretches.push(stretch)
    for (const id of stretch.ids) this.owners.set(id, stretch.start)
    for (const message of stretch.messages) this.mended.push(message)
    for (const { pass, repair } of stretch.steps) {
      while (this.repairs.length <= pass) this.repairs.push([])
      this.repairs[pass]?.push(repair)
    }
    this.repairCount += stretch.steps.length
  }

  /** All stretches from this one on, from the end. */
  private forget(first: number): void {
    while (this.stretches.length > first) {
      const stretch = this.stretches.pop()
      if (!stretch) return
      for (const id of stretch.ids) this.owners.delete(id)
      this.mended.length -= stretch.messages.length
      for (const { pass } of stretch.steps) this.repairs[pass]?.pop()
      this.repairCount -= stretch.steps.length
    }
  }

  /** One pass goes over the whole request before the next begins. */
  private repairsWith(steps: readonly Step[]): readonly Repair[] {
    const passes = Math.max(this.repairs.length, (steps.at(-1)?.pass ?? 0) + 1)
    const lists = Array.from({ length: passes }, (_, pass) => {
      const last = steps.filter((step) => step.pass === pass)
      return [this.repairs[pass] ?? [], last.map(({ repair }) => repair)]
    })
    return ([] as Repair[]).concat(...lists.flat())
  }
}

/** Stand for what comes before and behind a stretch. If one of them is touched, the stretch is not by itself. */
const someUser = standIn('user')
const someAnswer = standIn('assistant')

function standIn(role: Role): Draft {
  return { role, blocks: [note('…')], index: -1, whole: undefined }
}

/** Known as it was, and what follows it can still do so. */
function isWithin(stretch: Stretch | undefined, messages: readonly Message[], same: number): boolean {
  return stretch !== undefined && stretch.end <= same && isSeam(messages, stretch.end)
}

function isSeam(messages: readonly Message[], at: number): boolean {
  const next = messages[at]
  return next !== undefined && next.role !== messages[at - 1]?.role
}

/** The first place from here on where a stretch may end: between two roles, and not between calls and their results. */
function nextSeam(messages: readonly Message[], from: number): number | undefined {
  for (let at = from; at < messages.length - 1; at++) {
    const before = messages[at - 1]
    if (!before || !isSeam(messages, at)) continue
    if (before.role === 'user' || !blocksOf(before.content).some((block) => pairHalfOf(block)?.half === 'use'))
      return at
  }
  return undefined
}

function idsIn(messages: readonly Message[]): readonly string[] {
  const ids = new Set<string>()
  for (const { content } of messages) {
    if (typeof content === 'string') continue
    for (const block of blocksOf(content)) {
      const id = isToolUse(block) ? block.id : isToolResult(block) ? block.tool_use_id : pairHalfOf(block)?.id
      if (id !== undefined) ids.add(wellFormed(id))
    }
  }
  return [...ids]
}

function thinkingIn(messages: readonly Message[], start: number): readonly number[] {
  const found: number[] = []
  for (const [at, { content }] of messages.entries()) {
    if (typeof content !== 'string' && blocksOf(content).some(isThinking)) found.push(start + at)
  }
  return found
}
