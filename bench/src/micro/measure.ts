// Every reduction on a real transcript, and what the API (the simulator) says to the request that comes out: whether it
// is taken, and how many tokens it really has. It keeps numbers only, never a word of a transcript.
import { createSimulator, type Simulator, type SimulatorOptions } from '@everlong/simulator'
import {
  createFold,
  editRecord,
  type Fold,
  knownModels,
  modelFacts,
  numberAt,
  objectAt,
  requestMessages,
  stringAt,
} from 'everlong/internal'
import {
  appliedEdits,
  cacheStateOf,
  microByCacheEdit,
  type RequestOptions,
  type SituationInput,
  situationOf,
} from 'everlong/internal/compaction'
import { forEachEntry } from 'everlong/internal/node'
import {
  type Edit,
  microByIdle,
  microBySize,
  native,
  type PlanningMechanism,
  snip,
  type View,
} from 'everlong/mechanisms'

export type Outcome = {
  readonly way: string
  readonly type: 'edits' | 'request' | 'declined'
  /** The reason why it declined. */
  readonly why?: string
  readonly items: number
  /** By our counter. */
  readonly promised: number
  /** By the API's count: of the prompt, or what it says it left out. */
  readonly measured: number
  readonly status: number
  readonly error?: string
  /** Whether undoing it restored exactly the same view. */
  readonly isUndone: boolean
}

export type Measured = {
  readonly messages: number
  /** By the API's count, before anything is done. */
  readonly tokens: number
  readonly status: number
  readonly error?: string
  readonly outcomes: readonly Outcome[]
}

type Way = {
  readonly name: string
  readonly mechanism: (view: View) => PlanningMechanism
  readonly input: (view: View) => SituationInput
}

const hour = 3_600_000
const lastAnswer = ({ messages }: View): number => cacheStateOf({ messages, now: 0 }).lastAnswer ?? 0
const soon = (view: View): SituationInput => ({ now: lastAnswer(view) + 1_000 })
const idle = (view: View): SituationInput => ({ now: lastAnswer(view) + 2 * hour })

/** Unchanged, and by size with a target so low that most sessions are affected. */
export const ways: readonly Way[] = [
  { name: 'by size', mechanism: () => microBySize, input: soon },
  {
    name: 'by size, low target',
    mechanism: () => microBySize,
    input: (view) => ({
      ...idle(view),
      reductions: { microCompact: 'always', bySize: { target: 2_000, minFreed: 1_000 } },
    }),
  },
  { name: 'by idle time', mechanism: () => microByIdle, input: idle },
  {
    name: 'by cache edit',
    mechanism: () => microByCacheEdit,
    input: (view) => ({ ...soon(view), cacheLifetime: hour, client: { cacheEdits: true } }),
  },
  {
    name: 'native, low trigger',
    mechanism: () => native,
    input: (view) => ({
      ...soon(view),
      client: { contextManagement: true },
      reductions: { native: { trigger: 5_000, keepTokens: 5_000, clearAtLeast: 500, thinking: false } },
    }),
  },
  { name: 'snip of a sixth', mechanism: sixth, input: soon },
]

function sixth({ sources }: View): PlanningMechanism {
  const uuids = sources.flatMap(({ pieces }) => pieces.map(({ uuid }) => uuid ?? ''))
  const at = (share: number) => uuids[Math.floor((uuids.length - 1) * share)] ?? ''
  return snip({ from: at(1 / 3), to: at(1 / 2) })
}

/** A model whose rules the simulator knows: the session's own, or another in place of an unknown one. */
function modelOf({ messages }: View): string {
  const own = messages.findLast(({ model }) => model !== undefined && modelFacts(model) !== undefined)?.model
  return own ?? 'claude-opus-4-8'
}

/** Undefined when nothing in the file would be sent. */
export async function measureFile(path: string): Promise<Measured | undefined> {
  const fold = createFold()
  forEachEntry(path, (entry) => fold.add(entry))
  const view = fold.view()
  if (view.messages.length === 0) return undefined
  const simulator = createSimulator({ script: () => ({ content: [{ type: 'text', text: 'Yes.' }] }), ...lenient })
  const book = createBook(fold)
  const { tokens, status, error } = await send(simulator, view)
  const outcomes: Outcome[] = []
  for (const way of ways) {
    const outcome = await outcomeOf(view, way, { simulator, book, tokens })
    outcomes.push({ ...outcome, isUndone: JSON.stringify(book.undone().messages) === JSON.stringify(view.messages) })
  }
  return { messages: view.messages.length, tokens, status, ...(error ? { error } : {}), outcomes }
}

/** Real sessions hold thinking that another API signed, and more than some windows. */
const lenient: Omit<SimulatorOptions, 'script'> = {
  acceptForeignSignatures: true,
  windows: Object.fromEntries(knownModels().map(({ id }) => [id, 100_000_000])),
  maxBodyBytes: 1 << 30,
}

type Book = { readonly with: (edits: readonly Edit[]) => View; readonly undone: () => View }

/** Adds edits to a fold, and takes them back. */
function createBook(fold: Fold): Book {
  const inForce: string[] = []
  let count = 0
  const add = (edit: Edit): string => {
    const place = { uuid: `edit-${count++}`, parentUuid: null, timestamp: '2026-11-01T00:00:00.000Z', sessionId: 's' }
    fold.add({ record: editRecord(edit, place), position: { line: 0, offset: 0, length: 0, nth: 0 } })
    return place.uuid
  }
  return {
    with: (edits) => {
      inForce.push(...edits.map(add))
      return fold.view()
    },
    undone: () => {
      for (const uuid of inForce.splice(0).toReversed()) add({ type: 'undo', uuid })
      return fold.view()
    },
  }
}

type Bench = { readonly simulator: Simulator; readonly book: Book; readonly tokens: number }

async function outcomeOf(
  view: View,
  { name, mechanism, input }: Way,
  bench: Bench,
): Promise<Omit<Outcome, 'isUndone'>> {
  const plan = mechanism(view).plan(view, situationOf(view, { model: modelOf(view), ...input(view) }))
  if (plan.type === 'declined') {
    return { way: name, type: 'declined', why: plan.reason, items: 0, promised: 0, measured: 0, status: 200 }
  }
  const { items, freed: promised } = plan
  const { simulator, book, tokens } = bench
  const sent =
    plan.type === 'reduced' ? await send(simulator, book.with(plan.edits)) : await send(simulator, view, plan.request)
  const type = plan.type === 'reduced' ? 'edits' : 'request'
  const measured = type === 'edits' ? tokens - sent.tokens : sent.cleared
  const { status, error } = sent
  return { way: name, type, items: items.length, promised, measured, status, ...(error ? { error } : {}) }
}

type Sent = { readonly status: number; readonly error?: string; readonly tokens: number; readonly cleared: number }

async function send(simulator: Simulator, view: View, options: RequestOptions = {}): Promise<Sent> {
  const { contextManagement, betas = [], cacheEdits } = options
  const edits = cacheEdits ? [{ type: 'cache_edits', edits: cacheEdits }] : []
  const model = modelOf(view)
  const next = { role: 'user' as const, content: [{ type: 'text', text: 'Go on.' }, ...edits] }
  const { messages } = requestMessages(view, { model, next: [next] })
  const body = {
    model,
    max_tokens: 100,
    messages,
    cache_control: { type: 'ephemeral' },
    ...(contextManagement ? { context_management: contextManagement } : {}),
  }
  const headers = {
    'content-type': 'application/json',
    'x-api-key': 'key',
    'anthropic-version': '2023-06-01',
    ...(betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}),
    ...(cacheEdits ? { 'x-everlong-cache-edits': 'on' } : {}),
  }
  const url = 'http://simulator/v1/messages'
  const response = await simulator.fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const told: unknown = await response.json()
  const error = stringAt(objectAt(told, 'error'), 'message')
  const usage = objectAt(told, 'usage')
  const sum = (...keys: readonly string[]) => keys.reduce((all, key) => all + (numberAt(usage, key) ?? 0), 0)
  return {
    status: response.status,
    ...(error === undefined ? {} : { error }),
    tokens: sum('input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
    cleared: sum('cache_deleted_input_tokens') + appliedTokens(told),
  }
}

/** Tokens that the server reports as omitted. */
function appliedTokens(answer: unknown): number {
  const [edit] = appliedEdits(answer)
  return edit?.type === 'server-cleared' ? edit.tokens : 0
}
