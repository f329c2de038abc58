// Which tool results may be cleared, and what each weighs. Only what can be had again: never what is unknown, never what
// a person was asked, never what is pinned or cleared already.
import type { ViewMessage } from '../../message/message.ts'
import { type CallLike, isVouched, type ToolKind, toolCall } from '../../tools/call.ts'
import { clearedResult, withoutInput } from '../../transcript/view/edited.ts'
import type { View } from '../../transcript/view/fold.ts'
import { createFollower } from '../follow.ts'
import type { PlannedItem, Situation } from '../mechanism.ts'
import type { ReductionSettings } from '../settings.ts'
import type { Weigher } from '../weigher.ts'
import { answeredCalls, type CallInView } from './calls-in-view.ts'

export type ClearableKind = ToolKind | 'reproducible'

/** A result that may go; the reason is added by whoever takes it. */
export type Clearable = Omit<PlannedItem, 'why'> & {
  readonly toolUseId: string
  readonly tool: string
  readonly kind: ClearableKind
}

export type ToolRules = Pick<ReductionSettings, 'reproducible' | 'toolKinds'>

/**
 * The host's word comes first. A tool of an MCP server may be called anything: its name says nothing about what it
 * does, so without the host's word it stays.
 */
export function clearableKind(
  call: CallLike,
  { reproducible, toolKinds }: ToolRules,
  kind: ToolKind | undefined = toolCall(call).kind,
): ClearableKind | undefined {
  if (Object.hasOwn(toolKinds, call.name)) return toolKinds[call.name] ?? undefined
  if (reproducible.includes(call.name)) return kind ?? 'reproducible'
  return isVouched(call.name) ? kind : undefined
}

/** Tools that are given what they write. */
export function isWriting(kind: ClearableKind | undefined): boolean {
  return kind === 'write' || kind === 'edit'
}

/** In order of arrival: those on the list that are not cleared yet. */
export function clearableResults(view: View, { settings, weigher }: Situation): readonly Clearable[] {
  return weigher.once(clearableReader, weigher)(view, settings)
}

/** Those of them that the provider has not been asked to leave out: the others weigh nothing any more. */
export function activeResults(view: View, situation: Situation): readonly Clearable[] {
  const results = clearableResults(view, situation)
  const gone = deletedIn(situation)
  return gone.size === 0 ? results : results.filter(({ toolUseId }) => !gone.has(toolUseId))
}

/**
 * How many of the newest results stay where so many are to be kept. Where those of turns that have ended are not
 * (`keepFinished`), no more than the turn at hand has brought; what no answer has seen yet stays in any case.
 */
export function newestStaying(
  view: View,
  { keepFinished }: Pick<ReductionSettings, 'keepFinished'>,
  { results, keep }: { readonly results: readonly Clearable[]; readonly keep: number },
): number {
  const seen = seenUpTo(view)
  const asked = keepFinished ? -1 : view.messages.findLastIndex(({ origin }) => origin === 'human')
  let staying = 0
  for (let at = results.length - 1; at >= 0; at--) {
    const message = results[at]?.message ?? 0
    if (message < seen && (staying >= keep || message < asked)) break
    staying++
  }
  return staying
}

/** The newest answer: it has seen the messages before it, and none of those behind. */
export function seenUpTo({ messages }: View): number {
  return messages.findLastIndex(({ role }) => role === 'assistant')
}

export function deletedIn({ cacheEdits }: Pick<Situation, 'cacheEdits'>): ReadonlySet<string> {
  return new Set(cacheEdits?.deleted)
}

type Rules = ToolRules & Pick<ReductionSettings, 'recall' | 'clearInputs'>

/** As long as the rules and the pins stay what they are, only what is new is judged. */
function clearableReader(weigher: Weigher): (view: View, rules: Rules) => readonly Clearable[] {
  let judge:
    | { readonly key: string; readonly judged: (calls: readonly CallInView[]) => readonly Clearable[] }
    | undefined
  let last: { readonly view: View; readonly key: string; readonly items: readonly Clearable[] } | undefined
  return (view, rules) => {
    const key = JSON.stringify([rules.recall, rules.clearInputs, view.pins, rulesKey(rules)])
    if (last?.view === view && last.key === key) return last.items
    if (judge?.key !== key) judge = { key, judged: createJudge({ rules, pins: new Set(view.pins), weigher }) }
    last = { view, key, items: judge.judged(answeredCalls(view, weigher)) }
    return last.items
  }
}

/** Two sets of rules with one key judge alike. */
export function rulesKey({ reproducible, toolKinds }: ToolRules): string {
  return JSON.stringify([reproducible, Object.entries(toolKinds)])
}

type Judging = { readonly rules: Rules; readonly pins: ReadonlySet<string>; readonly weigher: Weigher }

function createJudge(judging: Judging): (calls: readonly CallInView[]) => readonly Clearable[] {
  const found = new Map<string, Clearable | undefined>()
  const follow = createFollower((call: CallInView) => {
    const id = call.result.tool_use_id
    const isKnown = found.has(id)
    const before = found.get(id)
    // One copy that must stay keeps them all: an edit names the call, not the copy.
    found.set(id, isKnown && before === undefined ? undefined : judged(call, before, judging))
    return () => {
      if (isKnown) found.set(id, before)
      else found.delete(id)
    }
  })
  return (calls) => {
    follow(calls)
    const items: Clearable[] = []
    for (const item of found.values()) if (item) items.push(item)
    return items
  }
}

/** With the copies of the same result that came before it; undefined when it has to stay. */
function judged(
  { use, got, message }: CallInView,
  before: Clearable | undefined,
  { rules, pins, weigher }: Judging,
): Clearable | undefined {
  const kind = clearableKind(use.call, rules, use.kind)
  const isPinned = pins.size > 0 && (pins.has(got.uuid ?? '') || pins.has(use.uuid ?? ''))
  if (!kind || isPinned || !got.isClearable) return undefined
  const id = got.result.tool_use_id
  const input =
    rules.clearInputs && isWriting(kind) ? weigher.block(use.call) - weigher.block(withoutInput(use.call)) : 0
  const frees = input + got.weight - weigher.content(clearedResult(rules.recall ? id : '', rules.recall))
  const uuids = got.uuid === undefined ? none : [got.uuid]
  return {
    type: 'result',
    toolUseId: id,
    tool: use.call.name,
    kind,
    ...(use.path === undefined ? nothing : { path: use.path }),
    uuids: before ? [...before.uuids, ...uuids] : uuids,
    message: before?.message ?? message,
    tokens: (before?.tokens ?? 0) + got.tokens,
    frees: (before?.frees ?? 0) + frees,
  }
}

const none: readonly string[] = []
const nothing = {}

/** The entries behind the messages, each with the index of its message. */
export function* piecesOf({ sources }: View): Generator<readonly [number, ViewMessage]> {
  for (const [index, { pieces }] of sources.entries()) for (const piece of pieces) yield [index, piece]
}
