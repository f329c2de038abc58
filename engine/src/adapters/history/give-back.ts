// From the messages of a request to the SDK's own. A message that is as the SDK gave it comes back as the very object; only
// what the engine changed is converted.
import { type Block, blocksOf } from '../../core/message/block.ts'
import type { Message } from '../../core/message/message.ts'
import { pairHalfOf } from '../../core/message/pairing.ts'
import { type Converter, type Known, keyOf, type Origin, type OriginOf } from './converter.ts'

/** A message to send. `known` is its index among the known ones; undefined if the engine made or changed it. */
export type GivenBack<Foreign> = { readonly foreign: Foreign; readonly known: number | undefined }

type Work<Foreign> = {
  readonly known: readonly Known<Foreign>[]
  readonly converter: Converter<Foreign>
  /** Indexes of known messages by the key of their last block, in order. */
  readonly byEnd: ReadonlyMap<string, readonly number[]>
  readonly originOf: OriginOf<Foreign>
}

export function giveBack<Foreign>(
  messages: readonly Message[],
  known: readonly Known<Foreign>[],
  converter: Converter<Foreign>,
): readonly GivenBack<Foreign>[] {
  const work: Work<Foreign> = { known, converter, byEnd: indexByEnd(known), originOf: originsIn(known) }
  // From the end, because the newest messages are the ones that stay: of equal messages the right one is found.
  const out: GivenBack<Foreign>[] = []
  let limit = known.length
  for (const message of messages.toReversed()) {
    const own = partsOf(message, { ...work, limit })
    limit = own.limit
    out.unshift(...own.given)
  }
  return out
}

function indexByEnd(known: readonly Known<unknown>[]): ReadonlyMap<string, readonly number[]> {
  const byEnd = new Map<string, number[]>()
  for (const [index, { blocks }] of known.entries()) {
    const last = blocks.at(-1)
    if (last === undefined) continue
    const end = keyOf(last)
    const list = byEnd.get(end)
    if (list) list.push(index)
    else byEnd.set(end, [index])
  }
  return byEnd
}

type Found<Foreign> = { readonly given: readonly GivenBack<Foreign>[]; readonly limit: number }

/** One message of a request may hold several of the SDK's: results, and what a person said after them. */
function partsOf<Foreign>(message: Message, work: Work<Foreign> & { readonly limit: number }): Found<Foreign> {
  const blocks = blocksOf(message.content)
  const keys = blocks.map(keyOf)
  const given: GivenBack<Foreign>[] = []
  let { limit } = work
  let changed: Block[] = []
  const flush = () => {
    if (changed.length > 0) given.unshift(...converted({ role: message.role, content: changed }, work))
    changed = []
  }
  for (let end = keys.length; end > 0; ) {
    const index = candidate({ role: message.role, keys: keys.slice(0, end) }, { ...work, limit })
    const same = index === undefined ? undefined : work.known[index]
    if (index === undefined || !same) {
      changed.unshift(blocks[end - 1] as Block)
      end--
      continue
    }
    flush()
    const start = end - same.blocks.length
    given.unshift({ foreign: marked(same, blocks.slice(start, end), work.converter), known: index })
    limit = index
    end = start
  }
  flush()
  return { given, limit }
}

/** The newest known message that these blocks end with, before the limit. */
function candidate<Foreign>(
  { role, keys }: { readonly role: Message['role']; readonly keys: readonly string[] },
  { known, byEnd, limit }: Work<Foreign> & { readonly limit: number },
): number | undefined {
  return byEnd.get(keys.at(-1) ?? '')?.findLast((index) => {
    const own = known[index]
    if (index >= limit || !own || own.role !== role || own.blocks.length > keys.length) return false
    const start = keys.length - own.blocks.length
    return own.blocks.every((block, at) => keyOf(block) === keys[start + at])
  })
}

function marked<Foreign>(
  { foreign, blocks: before }: Known<Foreign>,
  blocks: readonly Block[],
  { withMark }: Converter<Foreign>,
): Foreign {
  const mark = blocks.find(({ cache_control: own }, at) => own !== undefined && before[at]?.cache_control === undefined)
  return mark && withMark ? withMark(foreign, mark.cache_control) : foreign
}

function converted<Foreign>(message: Message, { converter, originOf }: Work<Foreign>): readonly GivenBack<Foreign>[] {
  const blocks = blocksOf(message.content)
  const mark = blocks.findLast(({ cache_control: own }) => own !== undefined)?.cache_control
  const content = blocks.map(({ cache_control: _, ...block }) => block as Block)
  const out = converter.fromMessage({ role: message.role, content }, originOf)
  return out.map((foreign, at) => {
    const isLast = mark !== undefined && at === out.length - 1
    return { foreign: isLast && converter.withMark ? converter.withMark(foreign, mark) : foreign, known: undefined }
  })
}

/** By content, or else by the id of the call: a cleared result still came from somewhere. */
function originsIn<Foreign>(known: readonly Known<Foreign>[]): OriginOf<Foreign> {
  let places:
    | { readonly byKey: Map<string, Origin<Foreign>>; readonly byPair: Map<string, Origin<Foreign>> }
    | undefined
  return (block) => {
    places ??= placesIn(known)
    return places.byKey.get(keyOf(block)) ?? places.byPair.get(pairKey(block) ?? '')
  }
}

function placesIn<Foreign>(known: readonly Known<Foreign>[]) {
  const byKey = new Map<string, Origin<Foreign>>()
  const byPair = new Map<string, Origin<Foreign>>()
  for (const { foreign, blocks, parts } of known) {
    for (const [at, block] of blocks.entries()) {
      const origin = { foreign, part: parts[at], block }
      byKey.set(keyOf(block), { ...origin, isSame: true })
      const pair = pairKey(block)
      if (pair !== undefined) byPair.set(pair, { ...origin, isSame: false })
    }
  }
  return { byKey, byPair }
}

function pairKey(block: Block): string | undefined {
  const half = pairHalfOf(block)
  return half && `${half.tool} ${half.half} ${half.id}`
}
