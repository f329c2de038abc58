// Turns the items that a mechanism chose into a plan: edits, stubs of cleared results, tokens freed, bound thinking, and whether
// it pays.
import type { Worth } from '../cache/economics.ts'
import {
  type Block,
  blocksOf,
  isMedia,
  isThinking,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
} from '../message/message.ts'
import { declined, type PlannedItem } from '../ports/outcome.ts'
import type { SafeRedact } from '../ports/restore.ts'
import { tailOf } from '../text/cut.ts'
import { neutralize, oneLine } from '../text/neutralize.ts'
import { withoutSecrets } from '../text/secrets.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { ToolCall } from '../tools/call.ts'
import { commandText, endingOf, outcomeLine, reportingLines } from '../tools/commands.ts'
import type { Edit } from '../transcript/format/edits.ts'
import { clearedResult } from '../transcript/view/effects.ts'
import type { View } from '../transcript/view/fold.ts'
import { type CallInView, callsIn, clearableResults, deletedIn, isWriting, itemOf } from './clearable.ts'
import type { Plan, PlanDeclined, Situation } from './mechanism.ts'
import { clearToolUses } from './server-edits.ts'
import { compactionAhead, isInDanger, sparesCompaction, worthIn } from './situation.ts'

export type ClearingInput = {
  readonly mechanism: string
  readonly why: string
  readonly items: readonly PlannedItem[]
  /** Number of tool uses that stay if the server clears instead, because thinking is bound. */
  readonly serverKeeps?: number
}

export function planClearing(view: View, situation: Situation, input: ClearingInput): Plan | PlanDeclined {
  const { mechanism, why, serverKeeps } = input
  const { client, settings } = situation
  if (input.items.length === 0) return declined('nothing-to-do', 'There is nothing left that may be cleared.')
  // Also clears what the provider already omits, because a local edit ends the request to omit it.
  const gone = goneAlready(view, situation)
  const from = firstMessage([...gone, ...input.items])
  const bound = boundThinking(view, situation, from)
  if (bound.length > 0 && settings.boundThinking === 'delegate' && client.contextManagement) {
    const delegation = serverKeeps === undefined ? undefined : clearToolUses(view, situation, serverKeeps)
    if (delegation) {
      const { request, freed } = delegation
      const { items } = input
      const { worth } = freedAndWorth(view, situation, items)
      const thinking = 'delegated'
      return weighed({ type: 'delegated', mechanism, why, items, freed, worth, thinking, request }, situation)
    }
  }
  const items = withStubs(view, situation, input.items)
  const edits = editsFor(view, situation, { ...input, items: [...withStubs(view, situation, gone), ...items] })
  const after = view.sources[from]?.uuids.at(-1)
  const plan = planEdits(view, situation, { mechanism, why, items, gone, bound, edits, after })
  return plan.type === 'declined' ? plan : weighed(plan, situation)
}

type Changes = {
  readonly edits: readonly Edit[]
  /** Thinking after the first change that the model bound to the prefix. It is removed starting at the entry `after`. */
  readonly bound: readonly PlannedItem[]
  readonly after: string | undefined
  /** Items that change too but free nothing. */
  readonly gone?: readonly PlannedItem[]
}

/** A plan that edits the view. It also removes bound thinking if the settings allow that. */
export function planEdits(
  view: View,
  situation: Situation,
  { mechanism, why, items, edits, bound, after, gone = [] }: Pick<Plan, 'mechanism' | 'why' | 'items'> & Changes,
): Plan | PlanDeclined {
  const isBound = bound.length > 0
  if (isBound && situation.settings.boundThinking === 'decline') {
    const problem = `The model binds its thinking to the prefix, and ${bound.length} answers after the change think.`
    return declined('thinking-bound', problem)
  }
  const unthink: Edit = {
    type: 'clear-thinking',
    ...(after === undefined ? {} : { after }),
    mechanism,
    reason: 'bound to the prefix that changed',
  }
  return {
    type: 'reduced',
    mechanism,
    why,
    items: [...items, ...bound],
    ...freedAndWorth(view, situation, [...gone, ...items, ...bound]),
    thinking: isBound ? 'removed' : 'untouched',
    edits: isBound ? [...edits, unthink] : edits,
  }
}

function goneAlready(view: View, situation: Situation): readonly PlannedItem[] {
  const gone = deletedIn(situation)
  if (gone.size === 0) return []
  const items = clearableResults(view, situation).filter(({ toolUseId }) => gone.has(toolUseId))
  return items.map((item) => ({ ...itemOf(item, ''), frees: 0 }))
}

/** Adds the stub that replaces each result, unless the item would then free nothing. */
function withStubs(view: View, situation: Situation, items: readonly PlannedItem[]): readonly PlannedItem[] {
  const { weigher, redact, settings } = situation
  const answered = weigher.once(answeredById, view)
  return items.map((item) => {
    const found = item.type === 'result' ? answered.get(item.toolUseId ?? '') : undefined
    if (!found) return item
    const known = weigher.once(nothingDescribed, found.result)
    const stub = known.get(found.use) ?? stubOf(found.call, found.result, redact)
    known.set(found.use, stub)
    const recall = settings.recall ? found.result.tool_use_id : undefined
    const more = weigher.content(clearedResult({ stub, recall })) - weigher.content(clearedResult({ recall }))
    const frees = item.frees - more * Math.max(1, item.uuids.length)
    return stub === '' || (frees <= 0 && item.frees > 0) ? item : { ...item, stub, frees: Math.max(0, frees) }
  })
}

function answeredById(view: View): ReadonlyMap<string, CallInView> {
  return new Map(callsIn(view).answered.map((call) => [call.result.tool_use_id, call]))
}

/** Stubs by call. The same result is planned before every request until clearing it pays. */
function nothingDescribed(_result: ToolResultBlock): Map<ToolUseBlock, string> {
  return new Map()
}

/** With `clearInputs`, also clears the inputs of writing calls. */
function editsFor(view: View, situation: Situation, { mechanism, why: reason, items }: ClearingInput): readonly Edit[] {
  const { recall, clearInputs } = situation.settings
  const results = items.filter(({ toolUseId }) => toolUseId !== undefined)
  const toolUseIds = results.map(({ toolUseId = '' }) => toolUseId)
  const stubs = results.map(({ stub = '' }) => stub)
  const attachments = items.flatMap(({ type, uuids }) => (type === 'attachment' ? uuids : []))
  const clear: Edit = {
    type: 'clear-results',
    toolUseIds,
    ...(stubs.some((stub) => stub !== '') ? { stubs } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(recall ? { recall: true } : {}),
    mechanism,
    reason,
  }
  if (!clearInputs) return [clear]
  const going = new Set(toolUseIds)
  const written = clearableResults(view, situation)
    .filter(({ kind, toolUseId }) => isWriting(kind) && going.has(toolUseId))
    .map(({ toolUseId }) => toolUseId)
  return written.length === 0 ? [clear] : [clear, { type: 'clear-inputs', toolUseIds: written, mechanism, reason }]
}

/** Thinking after a changed message, on models that bind it to the prefix. */
export function boundThinking(view: View, { model, weigher }: Situation, changed: number): readonly PlannedItem[] {
  if (model?.bindsThinking !== true) return []
  return weigher.once(thinkingIn, view).flatMap(({ message, blocks }): readonly PlannedItem[] => {
    if (message <= changed) return []
    const frees = weigher.content(blocks)
    const uuids = view.sources[message]?.uuids ?? []
    return [{ type: 'thinking', uuids, message, tokens: Math.round(frees), frees, why: 'bound to the prefix' }]
  })
}

/** Whether the server has to remove bound thinking if it clears. */
export function thinkingAfter(view: View, situation: Situation, changed: number): Plan['thinking'] {
  return boundThinking(view, situation, changed).length > 0 ? 'delegated' : 'untouched'
}

export function thinkingIn({ messages }: View) {
  return messages.flatMap(({ role, content }, message): readonly { message: number; blocks: readonly Block[] }[] => {
    if (role !== 'assistant' || typeof content === 'string' || !content.some(isThinking)) return []
    return [{ message, blocks: content.filter(isThinking) }]
  })
}

/** Everything from the first changed message on is written to the cache again. */
export function freedAndWorth(
  view: View,
  situation: Situation,
  items: readonly Pick<PlannedItem, 'message' | 'frees'>[],
): Pick<Plan, 'freed' | 'worth'> {
  const exact = items.reduce((sum, { frees }) => sum + frees, 0)
  const fromFirst = situation.weigher.from(view.messages, firstMessage(items))
  const freed = Math.round(exact)
  const compaction = compactionAhead(situation)
  const isForecast = situation.growth !== undefined && situation.expectedTurns === undefined
  const worth = worthIn(situation, {
    freed,
    suffix: Math.max(0, Math.round(fromFirst - exact)),
    ...(isForecast ? { carried: carriedSoFar(items), coldShare: situation.coldShare } : {}),
    ...(compaction ? { compaction } : {}),
  })
  return { freed, worth }
}

/** Tokens × requests, counted back from the newest item. An answer and its results are two messages. */
function carriedSoFar(items: readonly Pick<PlannedItem, 'message' | 'frees'>[]): number {
  const newest = items.reduce((last, { message }) => Math.max(last, message), 0)
  return items.reduce((sum, { message, frees }) => sum + (frees * (newest - message)) / 2, 0)
}

export function firstMessage(items: readonly Pick<PlannedItem, 'message'>[]): number {
  return items.reduce((first, { message }) => Math.min(first, message), Number.POSITIVE_INFINITY)
}

/** Declines a plan that does not pay yet, unless it avoids a compaction or nothing else will make room. */
export function weighed(plan: Plan, situation: Situation): Plan | PlanDeclined {
  const { worth, freed } = plan
  if (!situation.settings.weigh || sparesCompaction(situation, freed)) return plan
  if ((worth.pays && worth.isDue) || worth.cache === 'unknown' || isInDanger(situation)) return plan
  return { ...declined('does-not-pay', whyWait(worth)), worth }
}

function whyWait({ saved, cost, deferral, freed, turns, pays }: Worth): string {
  if (pays) {
    return `Clearing ${formatNumber(freed)} tokens is not due: carrying them has cost less than the ${formatNumber(cost)} to write again.`
  }
  const sum = `${formatNumber(saved)} saved, ${formatNumber(cost)} to write again, ${formatNumber(deferral)} for putting off a compaction`
  return `Clearing ${formatNumber(freed)} tokens does not pay in ${formatNumber(turns)} requests: ${sum}.`
}

// The stub of a cleared result: one line that describes the result. It is made once with the plan and stored in the edit, so
// every reader of the transcript gets the same bytes. Quoted text in it stays a quotation.

/** Characters, about 35 tokens. */
export const maxStub = 140
/** Share of the result. Every later request pays for a stub; with this share a session costs about 1 % more. */
const maxShare = 0.02
const maxName = 40
const maxInput = 60
const maxQuote = 50

/**
 * `Bash(npm test): exit 1, 349 lines, 36 error lines, "Tests 9 failed | 246 passed"`. Empty for a file that was read or changed,
 * because the call stays and says all of that; for a short result; and if the host's redaction failed.
 */
export function stubOf(call: ToolCall, result: ToolResultBlock, redact?: SafeRedact): string {
  const given = textOf(result.content)
  // Searches the whole text for secrets, because a single line of a private key looks like any other.
  const clean = (text: string) => withoutSecrets((redact ? redact(text) : text) ?? '')
  const text = clean(given)
  const media = blocksOf(result.content).filter(isMedia)
  const room = media.length > 0 ? maxStub : Math.min(maxStub, Math.floor(given.length * maxShare))
  if (room === 0 || (text === '' && given !== '')) return ''
  const isError = result.is_error === true
  if (saysAll(call) && !isError && media.length === 0) return ''
  const { end, errors, quote } = read(call, text, isError)
  const lines = linesIn(given)
  const all = [
    ...end,
    ...(lines === 0 ? [] : [countOf(lines, 'line')]),
    ...(errors === 0 ? [] : [countOf(errors, 'error line')]),
    ...media.slice(0, 1).map(({ type }) => countOf(media.length, type)),
  ]
  const input = quotable(inputOf(call, clean), maxInput)
  const name = `${quotable(call.name, maxName)}${input === '' ? '' : `(${input})`}`
  const brief = all.length === 0 ? name : `${name}: ${all.join(', ')}`
  const line = quotable(quote, maxQuote)
  const whole = line === '' ? brief : `${brief}, ${JSON.stringify(line)}`
  return [whole, brief, end.join()].find(({ length }) => length <= room) ?? ''
}

/** One line without tags and markers of ours. */
function quotable(text: string, maxLength: number): string {
  return neutralize(oneLine(text, maxLength))
}

function inputOf(call: ToolCall, clean: (text: string) => string): string {
  if (call.type === 'command') return clean(commandText(call.script))
  const named = call.path ?? (call.type === 'search' ? call.query : call.type === 'fetch' ? call.url : undefined) ?? ''
  const whole = clean(named)
  // The end of a path is more informative than its start.
  return call.path === undefined || whole.length <= maxInput ? whole : `…${tailOf(whole, maxInput - 1)}`
}

/** True for reads and changes of files without an error, because the call has the path. */
function saysAll({ type }: ToolCall): boolean {
  return type === 'read' || type === 'write' || type === 'edit' || type === 'patch'
}

type ResultOutcome = {
  /** `exit 1`, or `failed` where the code is unknown. */
  readonly end: readonly string[]
  /** Number of lines that name an error, if the command failed. */
  readonly errors: number
  readonly quote: string
}

const errorLine = /\b(?:error|fatal|panic|exception)\b|[a-z]Error\b|^\s*(?:FAIL|✗|✘)/i

function read(call: ToolCall, text: string, isError: boolean): ResultOutcome {
  if (call.type !== 'command') {
    const quote = isError || call.type === 'fetch' ? (reportingLines(text)[0] ?? '') : ''
    return { end: isError ? ['failed'] : [], errors: 0, quote }
  }
  const { exit, ended, output } = endingOf(text, { isError })
  const lines = reportingLines(output)
  const hasFailed = ended === 'badly'
  return {
    end: exit === undefined ? (hasFailed ? ['failed'] : []) : [`exit ${exit}`],
    errors: hasFailed ? lines.filter((line) => errorLine.test(line)).length : 0,
    quote: outcomeLine(lines, hasFailed),
  }
}

/** Counts lines, without empty ones at the end. */
function linesIn(text: string): number {
  const whole = text.trimEnd()
  let lines = whole === '' ? 0 : 1
  for (let at = whole.indexOf('\n'); at >= 0; at = whole.indexOf('\n', at + 1)) lines++
  return lines
}

function countOf(count: number, what: string): string {
  return `${formatNumber(count)} ${what}${count === 1 ? '' : 's'}`
}
