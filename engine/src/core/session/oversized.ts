// Makes a request that is too large sendable: removes images and documents, oldest first, and shortens tool results that no
// answer has seen yet. The model would request a result that it never saw again and again, so it is neither cleared nor
// summarized. Pinned entries keep their images.
import { mediaLimit, modelFacts } from '../catalog/models.ts'
import { unseenResults } from '../mechanisms/clearable.ts'
import type { Weigher } from '../mechanisms/measure.ts'
import { defined } from '../message/json.ts'
import { blocksOf, isText, isToolResult, type ToolResultBlock, type ViewMessage } from '../message/message.ts'
import type { ModelFailure } from '../ports/model.ts'
import type { Tried } from '../ports/outcome.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import type { Edit } from '../transcript/format/edits.ts'
import { mediaIn, minKept, shortenedResult, withoutMedia } from '../transcript/view/effects.ts'
import type { View } from '../transcript/view/fold.ts'
import { type Runtime, reduceView, writeReduction } from './runtime.ts'

/** Removes more than necessary, so that the next image does not break the cache again. */
const shareLeft = 0.8

/**
 * Removes the oldest images and documents if a request has more than the API accepts; a document counts as one page. For a
 * refused request, removes down to the limit that the provider named, or all except those of the newest entry. Returns whether it
 * removed any.
 */
export function stripMedia(runtime: Runtime, refused?: ModelFailure): boolean {
  const { conversation, gauge } = runtime
  const { sources, pins } = conversation.view()
  const all = sources.flatMap(({ pieces }) => pieces).filter(({ content }) => mediaIn(content) > 0)
  const free = all.filter(({ uuid }) => uuid !== undefined && !pins.includes(uuid))
  const max = refused ? refused.media?.limit : mediaLimit(modelFacts(gauge.model().name))
  const counted = max === undefined ? undefined : overLimit(free, { max, pinned: countIn(all) - countIn(free) })
  // A request may be refused although our count is below the limit, because the provider counts the pages of documents.
  const { going, keep }: MediaRemoval = counted ?? { going: refused ? free.slice(0, Math.max(1, free.length - 1)) : [] }
  if (going.length === 0) return false
  const weigher = gauge.weigher()
  const freed = going.reduce((sum, piece, at) => {
    const left = withoutMedia(piece, at === going.length - 1 ? keep : 0)
    return sum + weigher.content(piece.content) - weigher.content(left.content)
  }, 0)
  const edit: Edit = {
    type: 'clear-media',
    uuids: going.flatMap(({ uuid }) => uuid ?? []),
    ...defined({ keep }),
    mechanism: 'strip-media',
    reason: 'the request was too large',
  }
  reduceView(runtime, { edits: [edit], freed: Math.max(0, Math.round(freed)) })
  return true
}

type Pieces = readonly ViewMessage[]
/** `keep`: how many the last piece keeps, if the newest entry alone has too many. */
type MediaRemoval = { readonly going: Pieces; readonly keep?: number }

function overLimit(
  free: Pieces,
  { max, pinned }: { readonly max: number; readonly pinned: number },
): MediaRemoval | undefined {
  let left = pinned + countIn(free)
  const newest = free.at(-1)
  if (left <= max || !newest) return undefined
  const keep = Math.max(0, max - pinned)
  if (mediaIn(newest.content) > keep) return { going: free, keep }
  const target = Math.floor(max * shareLeft)
  const going = free.slice(0, -1).filter(({ content }) => {
    const isGoing = left > target
    if (isGoing) left -= mediaIn(content)
    return isGoing
  })
  return { going }
}

function countIn(pieces: Pieces): number {
  return pieces.reduce((sum, { content }) => sum + mediaIn(content), 0)
}

/** Share of the target of a compaction. The rest is for the summary. */
const unseenShare = 0.5

/** Shortens results that no answer has seen, if they take too much room. Returns what was done. */
export function shortenUnseen(runtime: Runtime): readonly Tried[] {
  const { conversation, gauge, ports } = runtime
  const view = conversation.view()
  const { explanation, target, weigher, settings } = gauge.situation(view)
  const results = unseenUnpinned(view).map((result) => ({ result, tokens: weigher.block(result) }))
  const room = target * unseenShare
  if (withMargin(results.reduce((sum, { tokens }) => sum + tokens, 0)) <= room) return []
  const max = fairShare(
    results.map(({ tokens }) => tokens),
    (room * 3) / 4,
  )
  const mechanism = 'shorten-results'
  const recall = settings.recall ? { recall: true } : {}
  const edits: Edit[] = []
  let freed = 0
  for (const { result, tokens } of results) {
    if (tokens <= max) continue
    const keep = charactersIn(max, result, weigher)
    const left = weigher.block({ ...result, content: shortenedResult(result, { keep, recall: settings.recall }) })
    if (left >= tokens) continue
    freed += tokens - left
    const toolUseIds = [result.tool_use_id]
    edits.push({ type: 'clear-results', toolUseIds, keep, ...recall, mechanism, reason: 'too large to be sent' })
  }
  if (edits.length === 0) return []
  writeReduction(runtime, { edits, freed: Math.round(freed) })
  const sizes = { tokensBefore: explanation.size.tokens, tokensAfter: gauge.size().tokens }
  ports.emit({ type: 'micro-compacted', mechanism, results: edits.length, ...sizes })
  return [{ mechanism, outcome: 'done', why: `shortened ${edits.length}, freed ${Math.round(freed)} tokens` }]
}

function unseenUnpinned(view: View): readonly ToolResultBlock[] {
  const pieces = view.sources[unseenResults(view) ?? -1]?.pieces ?? []
  return pieces
    .filter(({ uuid, origin }) => origin === 'tool-result' && !view.pins.includes(uuid ?? ''))
    .flatMap(({ content }) => blocksOf(content).filter(isToolResult))
}

/** The maximum for each that makes all of them fit. */
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

/** How many characters of its texts may stay for the result to have `max` tokens. */
function charactersIn(max: number, result: ToolResultBlock, weigher: Weigher): number {
  const texts = blocksOf(result.content).filter(isText)
  const characters = texts.reduce((sum, { text }) => sum + text.length, 0)
  const weight = weigher.content(texts)
  const room = Math.max(0, max - (weigher.block(result) - weight))
  return Math.max(minKept, Math.floor((characters * room) / weight))
}
