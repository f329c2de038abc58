// The passes of a repair that pair calls and results: every call has its result in the next message, every result has
// its call, and server tools are answered within their answer.
import { type Block, isToolResult, isToolUse, type ToolResultBlock } from '../message/block.ts'
import { pairHalfOf } from '../message/pairing.ts'
import { type Draft, type Report, resultAsText, useAsText, withBlocks } from './draft.ts'

const noResult = '[No result: the call was interrupted, or its result is not part of this conversation]'

/**
 * Of calls that share an id the first stays. A copy of it goes; a different call becomes text. A result behind the second
 * call is not given to a first one that had none: the answers in between were told so, and their thinking is bound to that.
 */
export function uniqueUses(drafts: readonly Draft[], report: Report): readonly Draft[] {
  if (drafts.every(createIsNew())) return drafts
  const seen = new Map<string, { readonly block: Block; readonly draft: Draft }>()
  const answered = new Set<string>()
  const reused = new Set<string>()
  const resultOf = (block: ToolResultBlock, message: number): readonly Block[] => {
    const id = block.tool_use_id
    if (reused.has(id) && !answered.has(id)) {
      report({ type: 'result-became-text', message, id })
      return resultAsText(block)
    }
    if (seen.has(id)) answered.add(id)
    return [block]
  }
  return drafts.map((draft) => {
    const blocks = draft.blocks.flatMap((block) => {
      if (isToolResult(block)) return resultOf(block, draft.index)
      if (!isToolUse(block)) return [block]
      const known = seen.get(block.id)
      if (known === undefined && draft.role === 'assistant') {
        seen.set(block.id, { block, draft })
        return [block]
      }
      if (known !== undefined && known.draft !== draft) reused.add(block.id)
      const isCopy = known !== undefined && JSON.stringify(known.block) === JSON.stringify(block)
      report({ type: isCopy ? 'duplicate-dropped' : 'use-became-text', message: draft.index, id: block.id })
      return isCopy ? [] : [useAsText(block)]
    })
    return withBlocks(draft, blocks)
  })
}

/** Whether all calls of a message are an answer's and have new ids, which is the usual case. */
function createIsNew(): (draft: Draft) => boolean {
  const seen = new Set<string>()
  return ({ role, blocks }) =>
    blocks.every((block) => {
      if (!isToolUse(block)) return true
      if (role !== 'assistant' || seen.has(block.id)) return false
      seen.add(block.id)
      return true
    })
}

/**
 * Results for an answer that another answer follows, where none of its calls has one: the second was given on a request
 * that told it so, and its thinking may be bound to that.
 */
export function interruptedCalls(answer: Draft, drafts: readonly Draft[], report: Report): readonly Block[] {
  const calls = idsOfCalls(answer)
  if (calls.length === 0) return []
  const isAnswered = (block: Block) => isToolResult(block) && calls.includes(block.tool_use_id)
  if (drafts.some(({ blocks }) => blocks.some(isAnswered))) return []
  return calls.map((id) => missingResult(id, { message: answer.index, report }))
}

function missingResult(id: string, { message, report }: { readonly message: number; readonly report: Report }): Block {
  report({ type: 'result-added', message, id })
  return { type: 'tool_result', tool_use_id: id, content: noResult, is_error: true }
}

type Found = { readonly at: number; readonly nth: number; readonly block: ToolResultBlock }
type Pairing = { readonly chosen: ReadonlyMap<string, Found>; readonly report: Report }

/** Expects roles that alternate and uses that are unique; leaves every result where it belongs. */
export function pairedResults(drafts: readonly Draft[], report: Report): readonly Draft[] {
  const pairing = { chosen: chooseResults(drafts), report }
  const out: Draft[] = []
  for (const [at, draft] of drafts.entries()) {
    const before = drafts[at - 1]
    const calls = draft.role === 'user' && before ? idsOfCalls(before) : noCalls
    if (at < drafts.length - 1 && isSettled(draft, { at, calls, pairing })) {
      out.push(draft)
      continue
    }
    const inPlace = draft.blocks.filter((_, nth) => isInPlace(draft, { at, nth, calls, pairing }))
    const rest = draft.blocks.flatMap((block, nth) => leftover(block, { at, nth, draft, pairing }))
    const fetched = fetchResults(calls, { draft, at, pairing })
    out.push(arranged(draft, [...inPlace, ...fetched, ...rest], report))
    const isEnd = at === drafts.length - 1
    const open = isEnd ? fetchResults(idsOfCalls(draft), { draft, at: at + 1, pairing }) : []
    if (open.length > 0) out.push({ role: 'user', blocks: open, index: draft.index, whole: undefined })
  }
  return out
}

/** The usual case: the results it must hold come first, and it holds no others. */
function isSettled(
  { blocks }: Draft,
  { at, calls, pairing }: { readonly at: number; readonly calls: readonly string[]; readonly pairing: Pairing },
): boolean {
  return (
    blocks.every((block, nth) => {
      if (!isToolResult(block)) return nth >= calls.length
      return (
        nth < calls.length &&
        calls.includes(block.tool_use_id) &&
        isAt(pairing.chosen.get(block.tool_use_id), { at, nth })
      )
    }) && blocks.length >= calls.length
  )
}

function idsOfCalls({ role, blocks }: Draft): readonly string[] {
  return role === 'assistant' && blocks.some(isToolUse) ? blocks.filter(isToolUse).map(({ id }) => id) : noCalls
}

const noCalls: readonly string[] = []

/** For each call its result: from the next message if it is there, else the first behind it, else any. */
function chooseResults(drafts: readonly Draft[]): ReadonlyMap<string, Found> {
  const chosen = new Map<string, Found>()
  const missed: { readonly at: number; readonly id: string }[] = []
  for (let at = 0; at < drafts.length; at++) {
    for (const id of idsOfCalls(drafts[at] as Draft)) {
      const next = resultIn(drafts[at + 1], { at: at + 1, id })
      if (next) chosen.set(id, next)
      else missed.push({ at, id })
    }
  }
  if (missed.length === 0) return chosen
  const found = resultsFor(new Set(missed.map(({ id }) => id)), drafts)
  for (const { at, id } of missed) {
    const all = found.get(id)
    const best = all?.find((one) => one.at > at) ?? all?.[0]
    if (best) chosen.set(id, best)
  }
  return chosen
}

function resultIn(
  draft: Draft | undefined,
  { at, id }: { readonly at: number; readonly id: string },
): Found | undefined {
  const nth = draft?.blocks.findIndex((block) => isToolResult(block) && block.tool_use_id === id) ?? -1
  return nth < 0 ? undefined : { at, nth, block: draft?.blocks[nth] as ToolResultBlock }
}

/** Wherever they stand, in the order of the request. */
function resultsFor(ids: ReadonlySet<string>, drafts: readonly Draft[]): ReadonlyMap<string, readonly Found[]> {
  const found = new Map<string, Found[]>([...ids].map((id) => [id, []]))
  for (const [at, { blocks }] of drafts.entries()) {
    for (const [nth, block] of blocks.entries()) {
      if (isToolResult(block)) found.get(block.tool_use_id)?.push({ at, nth, block })
    }
  }
  return found
}

type BlockAt = { readonly at: number; readonly nth: number; readonly pairing: Pairing }

function isInPlace(draft: Draft, where: BlockAt & { readonly calls: readonly string[] }): boolean {
  const block = draft.blocks[where.nth]
  if (!block || !isToolResult(block) || !where.calls.includes(block.tool_use_id)) return false
  return isAt(where.pairing.chosen.get(block.tool_use_id), where)
}

function isAt(found: Found | undefined, { at, nth }: { readonly at: number; readonly nth: number }): boolean {
  return found?.at === at && found.nth === nth
}

/** What is left of a block; chosen results are placed separately. */
function leftover(block: Block, where: BlockAt & { readonly draft: Draft }): readonly Block[] {
  if (!isToolResult(block)) return [block]
  const { chosen, report } = where.pairing
  const used = chosen.get(block.tool_use_id)
  if (isAt(used, where)) return []
  const isCopy = used !== undefined && JSON.stringify(used.block) === JSON.stringify(block)
  const type = isCopy ? 'duplicate-dropped' : 'result-became-text'
  report({ type, message: where.draft.index, id: block.tool_use_id })
  return isCopy ? [] : resultAsText(block)
}

/** The results of these calls that are not in this message yet: fetched from where they are, or made. */
function fetchResults(
  calls: readonly string[],
  { draft, at, pairing }: { readonly draft: Draft; readonly at: number; readonly pairing: Pairing },
): readonly Block[] {
  const { chosen, report } = pairing
  return calls
    .filter((id) => chosen.get(id)?.at !== at)
    .map((id): Block => {
      const block = chosen.get(id)?.block
      if (!block) return missingResult(id, { message: draft.index, report })
      report({ type: 'result-moved', message: draft.index, id })
      return block
    })
}

function arranged(draft: Draft, blocks: readonly Block[], report: Report): Draft {
  const arrangement = withBlocks(draft, blocks)
  // Other changes have been reported already; here only the order differs.
  const isReordered =
    arrangement !== draft &&
    blocks.length === draft.blocks.length &&
    blocks.every((block) => draft.blocks.includes(block))
  if (isReordered) report({ type: 'result-moved', message: draft.index })
  return arrangement
}

/** Server tools: a result stands behind its use; a use without one stays only while the turn is paused on it. */
export function pairedServerTools(drafts: readonly Draft[], report: Report): readonly Draft[] {
  if (!drafts.some(({ blocks: own }) => own.some(isServers))) return drafts
  const blocks = drafts.flatMap(({ role, blocks: own }, at) => own.map((block) => ({ at, role, block })))
  const uses = new Map<string, Block>()
  const answered = new Set<string>()
  const stays = new Set<Block>()
  for (const { block, role } of blocks) {
    const half = pairHalfOf(block)
    if (half?.tool !== 'server' || role !== 'assistant') continue
    if (half.half === 'use' && !uses.has(half.id)) uses.set(half.id, block)
    if (half.half === 'result' && uses.has(half.id) && !answered.has(half.id)) {
      answered.add(half.id)
      stays.add(block)
    }
  }
  const paused = pausedAt(drafts)
  for (const { at, block } of blocks) {
    const half = pairHalfOf(block)
    if (half?.half !== 'use' || uses.get(half.id) !== block) continue
    if (answered.has(half.id) || at === paused) stays.add(block)
  }
  return drafts.map((draft) => {
    const kept = draft.blocks.filter((block) => {
      const half = pairHalfOf(block)
      if (half?.tool !== 'server' || stays.has(block)) return true
      report({ type: 'server-block-dropped', message: draft.index, id: half.id })
      return false
    })
    return withBlocks(draft, kept)
  })
}

/** Asked of every block: kinds that are known to be none come first. */
function isServers(block: Block): boolean {
  const { type } = block
  if (type === 'text' || type === 'tool_result' || type === 'tool_use' || type === 'thinking') return false
  return pairHalfOf(block)?.tool === 'server'
}

function pausedAt(drafts: readonly Draft[]): number {
  const last = drafts.at(-1)
  if (last?.role === 'assistant') return drafts.length - 1
  return last?.blocks.every(isToolResult) ? drafts.length - 2 : -1
}
