// Converts the messages of a request back to the SDK's. An unchanged message is returned as the same object; only messages that
// the engine changed are converted.

import { groupBy } from '../../core/message/maps.ts'
import { type Block, blocksOf, type Message, pairHalfOf } from '../../core/message/message.ts'
import { type Converter, type KnownMessage, keyOf, type OriginOf, unmarked } from './converter.ts'

/** A message to send. `known` is its index among the known ones; undefined if the engine made or changed it. */
export type GivenBack<Foreign> = { readonly foreign: Foreign; readonly known: number | undefined }

export function giveBack<Foreign>(
  messages: readonly Message[],
  known: readonly KnownMessage<Foreign>[],
  converter: Converter<Foreign>,
): readonly GivenBack<Foreign>[] {
  const writer: Writer<Foreign> = { converter, originOf: originsIn(known) }
  const groups = groupBy([...known.keys()], (index) => lastKeyOf(known[index]))
  const byEnd = new Map([...groups].map(([key, group]) => [key, [...group]]))
  // From the end, because the newest messages are the ones that stay. That finds the right one among equal messages.
  const out: GivenBack<Foreign>[] = []
  let limit = known.length
  for (const { role, content } of messages.toReversed()) {
    const blocks = blocksOf(content)
    const keys = blocks.map(keyOf)
    // One message of a request may contain several of the SDK's: results, and a person's text after them.
    let changed: Block[] = []
    const flush = () => {
      if (changed.length > 0) out.push(...written({ role, content: changed }, writer).toReversed())
      changed = []
    }
    for (let end = blocks.length; end > 0; ) {
      const candidates = byEnd.get(keys[end - 1] ?? '') ?? []
      // The limit only decreases, so these are never needed again.
      while ((candidates.at(-1) ?? -1) >= limit) candidates.pop()
      const index = candidates.findLast((at) => isEndOf({ role, keys, end }, known[at]))
      const same = index === undefined ? undefined : known[index]
      if (index === undefined || !same) {
        changed.unshift(blocks[--end] as Block)
        continue
      }
      flush()
      const start = end - same.content.length
      out.push({ foreign: withMarkOf(same, blocks.slice(start, end), converter), known: index })
      limit = index
      end = start
    }
    flush()
  }
  return out.reverse()
}

function lastKeyOf(known: KnownMessage<unknown> | undefined): string {
  const last = known?.content.at(-1)
  return last ? keyOf(last) : ''
}

type KeyedMessage = { readonly role: Message['role']; readonly keys: readonly string[]; readonly end: number }

/** True if the blocks before `end` end with a known message. */
function isEndOf({ role, keys, end }: KeyedMessage, known: KnownMessage<unknown> | undefined): boolean {
  if (!known || known.role !== role || known.content.length > end) return false
  const start = end - known.content.length
  return known.content.every((block, at) => keyOf(block) === keys[start + at])
}

function withMarkOf<Foreign>(
  { foreign, content: before }: KnownMessage<Foreign>,
  blocks: readonly Block[],
  { withMark }: Converter<Foreign>,
): Foreign {
  const mark = blocks.find(({ cache_control: own }, at) => own !== undefined && before[at]?.cache_control === undefined)
  return mark && withMark ? withMark(foreign, mark.cache_control) : foreign
}

type Writer<Foreign> = { readonly converter: Converter<Foreign>; readonly originOf: OriginOf<Foreign> }

function written<Foreign>(
  { role, content }: Message,
  { converter: { write, withMark }, originOf }: Writer<Foreign>,
): readonly GivenBack<Foreign>[] {
  const blocks = blocksOf(content)
  const mark = blocks.findLast(({ cache_control: own }) => own !== undefined)?.cache_control
  const out = write({ role, content: blocks.map(unmarked) }, originOf)
  return out.map((foreign, at) => {
    const isMarked = mark !== undefined && at === out.length - 1
    return { foreign: isMarked && withMark ? withMark(foreign, mark) : foreign, known: undefined }
  })
}

/** By content, otherwise by the id of the call, because a cleared result still has an origin. */
function originsIn<Foreign>(known: readonly KnownMessage<Foreign>[]): OriginOf<Foreign> {
  let origins: Map<string, Foreign> | undefined
  return (block) => {
    origins ??= new Map(
      known.flatMap(({ foreign, content }) =>
        content.flatMap(namesOf).map((name): [string, Foreign] => [name, foreign]),
      ),
    )
    for (const name of namesOf(block)) {
      const origin = origins.get(name)
      if (origin !== undefined) return origin
    }
    return undefined
  }
}

function namesOf(block: Block): readonly string[] {
  const half = pairHalfOf(block)
  return half ? [keyOf(block), `${half.tool} ${half.half} ${half.id}`] : [keyOf(block)]
}
