// What a compaction summarizes and what it keeps. A chosen point moves to the nearest place where the conversation may
// be cut. Pure: the view is read and never changed.
import { modelFacts } from '../catalog/models.ts'
import { blocksOf, isThinking } from '../message/block.ts'
import { cutAfter, cutBefore, legalCuts } from '../message/cut-points.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import type { SummaryVariant } from '../prompts/summary.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Source } from '../transcript/view/merge.ts'
import type { PartialChoice } from './job.ts'

export type CompactionParts = {
  readonly type: 'parts'
  readonly variant: SummaryVariant
  readonly summarized: readonly ViewMessage[]
  readonly kept: readonly ViewMessage[]
  /** Entries of the kept messages, in order. */
  readonly keptUuids: readonly string[]
  /** Before which of the view's messages it was cut; undefined when the cut lies inside one. */
  readonly cutMessage?: number
  /** Thinking in kept messages is bound to what goes, and has to go too. */
  readonly removesThinking: boolean
}

export type NoParts = { readonly type: 'nothing'; readonly why: string }

type PieceAt = { readonly piece: ViewMessage; readonly uuids: readonly string[]; readonly message: number }

export const notEnough = 'Not enough messages to compact.'

export function compactionParts(
  view: View,
  choice: PartialChoice | undefined,
  options: { readonly model: string | undefined; readonly largest: number },
): CompactionParts | NoParts {
  if (!choice) {
    const summarized = piecesOf(view)
    if (!isWorthIt(summarized, options.largest, view)) return { type: 'nothing', why: notEnough }
    return { type: 'parts', variant: 'full', summarized, kept: [], keptUuids: [], removesThinking: false }
  }
  const all = view.sources.flatMap((source, message) => piecesAt(source, message))
  const chosen = all.findIndex(({ uuids, piece }) => piece.uuid === choice.uuid || uuids.includes(choice.uuid))
  if (chosen < 0) return { type: 'nothing', why: `${choice.uuid} is no message of the current context.` }
  return cutAt(all, { choice, chosen, model: options.model })
}

/** All that its messages are made of, one for each entry. */
export function piecesOf({ sources }: View): readonly ViewMessage[] {
  const all: ViewMessage[] = []
  for (const { pieces } of sources) for (const piece of pieces) all.push(piece)
  return all
}

/** The entries behind each piece: one, or all that a range stands for. */
function piecesAt({ pieces, uuids }: Source, message: number): readonly PieceAt[] {
  let at = 0
  return pieces.map((piece, index) => {
    if (piece.uuid !== undefined && uuids[at] === piece.uuid) return { piece, uuids: [uuids[at++] ?? ''], message }
    const next = pieces[index + 1]?.uuid
    const end = next === undefined ? uuids.length : uuids.indexOf(next, at)
    const own = uuids.slice(at, end < 0 ? uuids.length : end)
    at += own.length
    return { piece, uuids: own, message }
  })
}

function isSpoken({ origin }: ViewMessage): boolean {
  return isRequest(origin) || origin === 'assistant' || origin === 'tool-result'
}

/** Something was said since the last summary; one message alone only when it is itself too large. */
function isWorthIt(pieces: readonly ViewMessage[], largest: number, view: View): boolean {
  let said = 0
  for (let at = pieces.length - 1; at >= 0 && said < 2; at--) {
    const piece = pieces[at]
    if (piece?.origin === 'summary') break
    if (piece && isSpoken(piece)) said++
  }
  if (said === 2) return true
  return said === 1 && largest > 0 && JSON.stringify(view.messages).length / 4 > largest
}

function cutAt(
  all: readonly PieceAt[],
  {
    choice,
    chosen,
    model,
  }: { readonly choice: PartialChoice; readonly chosen: number; readonly model: string | undefined },
): CompactionParts | NoParts {
  const pieces = all.map(({ piece }) => piece)
  const cuts = legalCuts(pieces, { before: 'user-message' })
  const back = cutBefore(cuts, chosen)
  const ahead = cutAfter(cuts, { index: chosen, length: pieces.length })
  const cut = nearest(chosen, back, ahead)
  const [before, after] = [all.slice(0, cut), all.slice(cut)]
  const [goes, stays] = choice.type === 'from' ? [after, before] : [before, after]
  if (!goes.some(({ piece }) => isSpoken(piece) || piece.origin === 'summary'))
    return { type: 'nothing', why: notEnough }
  const kept = stays.map(({ piece }) => piece)
  const cutMessage = all[cut]?.message
  const isBetween = cutMessage !== undefined && all[cut - 1]?.message !== cutMessage
  return {
    type: 'parts',
    variant: choice.type,
    summarized: goes.map(({ piece }) => piece),
    kept,
    keptUuids: stays.flatMap(({ uuids }) => uuids),
    ...(isBetween ? { cutMessage } : {}),
    // What comes before the summary keeps the prefix that its thinking is bound to.
    removesThinking: choice.type === 'up-to' && bindsThinking(kept, model),
  }
}

function nearest(chosen: number, back: number | undefined, ahead: number | undefined): number {
  if (back === undefined) return ahead ?? 0
  return ahead === undefined || chosen - back <= ahead - chosen ? back : ahead
}

function bindsThinking(kept: readonly ViewMessage[], model: string | undefined): boolean {
  if (model === undefined || modelFacts(model)?.bindsThinking !== true) return false
  return kept.some(({ content }) => blocksOf(content).some(isThinking))
}

/** Without the thinking that is void behind a summary. */
export function withoutThinking(kept: readonly ViewMessage[]): readonly ViewMessage[] {
  return kept.flatMap((message) => {
    const blocks = blocksOf(message.content)
    if (!blocks.some(isThinking)) return [message]
    const content = blocks.filter((block) => !isThinking(block))
    return content.length === 0 ? [] : [{ ...message, content }]
  })
}
