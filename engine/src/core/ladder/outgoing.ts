// Mends what goes out, and remembers what it has looked at: a conversation that only grew is looked at where it grew. The
// answer is always that of repairRequest over the whole.
import { type Block, blocksOf } from '../message/block.ts'
import type { Message, ViewMessage } from '../message/message.ts'
import { type Repaired, type RepairOptions, repairRequest } from '../message/repair.ts'

export type Outgoing = { readonly mend: (messages: readonly ViewMessage[], options: RepairOptions) => Repaired }

/** To be kept as long as the conversation. */
export function createOutgoing(): Outgoing {
  const ids = createIds()
  let seen: readonly ViewMessage[] = []
  let bare: readonly Message[] = []
  let isValid = false
  return {
    mend: (messages, options) => {
      const same = commonLength(seen, messages)
      bare = [...bare.slice(0, same), ...messages.slice(same).map(bareOf)]
      seen = messages
      ids.cutTo(same)
      if (isValid && (options.changed?.size ?? 0) === 0 && isTailValid(bare, { same, ids, options })) {
        return { messages: bare, repairs: [] }
      }
      const repaired = repairRequest(bare, options)
      isValid = repaired.repairs.length === 0
      return repaired
    },
  }
}

/** What the API knows of a message: the rest is ours. */
function bareOf({ role, content }: ViewMessage): Message {
  return { role, content }
}

function commonLength(before: readonly unknown[], now: readonly unknown[]): number {
  const most = Math.min(before.length, now.length)
  let at = 0
  while (at < most && before[at] === now[at]) at++
  return at
}

/** Stands for what comes before: a request begins with the user. */
const opening: Message = { role: 'user', content: 'before' }

type Tail = { readonly same: number; readonly ids: Ids; readonly options: RepairOptions }

/**
 * Whether what came since is in order, given that all before it was. It is cut before an answer whose results lie in the
 * part that is unchanged or behind it, so that no pair is split; an id that was used before cannot be judged from here.
 */
function isTailValid(messages: readonly Message[], { same, ids, options }: Tail): boolean {
  let start = same - 2
  while (start > 0 && messages[start]?.role !== 'assistant') start--
  if (start <= 0) return false
  ids.growTo(messages, start)
  const tail = messages.slice(start)
  if (tail.some(({ content }) => blocksOf(content).some((block) => idsOf(block).some(ids.has)))) return false
  return repairRequest([opening, ...tail], options).repairs.length === 0
}

type Ids = ReturnType<typeof createIds>

/** The ids of calls and results in the messages up to a place. */
function createIds() {
  const known = new Set<string>()
  let length = 0
  return {
    has: (id: string) => known.has(id),
    growTo: (messages: readonly Message[], end: number) => {
      // What was taken in before may stand behind the place that is asked for now.
      if (end < length) known.clear()
      if (end < length) length = 0
      for (; length < end; length++) {
        for (const block of blocksOf(messages[length]?.content)) for (const id of idsOf(block)) known.add(id)
      }
    },
    cutTo: (end: number) => {
      if (end >= length) return
      known.clear()
      length = 0
    },
  }
}

function idsOf({ id, tool_use_id }: Block): readonly string[] {
  return [...(typeof id === 'string' ? [id] : []), ...(typeof tool_use_id === 'string' ? [tool_use_id] : [])]
}
