// A conversation on the bench: records in, its view, a compaction with whatever model, and the view afterwards. Shared by
// the scenario tests of the compaction procedure. No part of the package.
import type { EngineEvent, Failed, Message, ModelClient, ModelRequest } from 'everlong'
import { checkRequest, createFold, type Fold, type JsonObject, repairRequest, stringAt } from 'everlong/internal'
import type { Hooks } from 'everlong/internal/compaction'
import {
  type Compaction,
  type CompactionJob,
  type CompactionPorts,
  noHooks,
  type RunOptions,
  runCompaction,
} from 'everlong/internal/compaction'
import { generateWithTruth, type SessionOptions } from 'everlong/internal/testing'
import type { View } from 'everlong/mechanisms'

export type Bench = {
  readonly fold: Fold
  readonly view: () => View
  readonly add: (records: readonly JsonObject[]) => void
  readonly records: readonly JsonObject[]
  readonly events: EngineEvent[]
  /** Compacts, and appends the records on success. */
  readonly compact: (model: ModelClient, choices?: BenchChoices) => Promise<Compaction | Failed>
}

export type BenchChoices = Partial<CompactionJob> & {
  readonly hooks?: Hooks
  readonly signal?: AbortSignal
  readonly onEvent?: (event: EngineEvent) => void
  readonly wait?: CompactionPorts['wait']
  readonly write?: RunOptions['write']
}

export function bench(records: readonly JsonObject[]): Bench {
  const fold = createFold()
  const all: JsonObject[] = []
  const events: EngineEvent[] = []
  let ids = 0
  let time = Date.UTC(2026, 10, 2)
  const add = (more: readonly JsonObject[]): void => {
    for (const record of more) {
      all.push(record)
      fold.add({ record, position: { line: all.length, offset: all.length, length: 1, nth: 0 } })
    }
  }
  add(records)
  const compact: Bench['compact'] = async (model, choices = {}) => {
    const { hooks = noHooks, signal, onEvent, wait = untilStopped, write, ...input } = choices
    const ports: CompactionPorts = {
      now: () => (time += 7),
      newId: () => `c${++ids}`,
      model,
      hooks,
      emit: (event) => {
        events.push(event)
        onEvent?.(event)
      },
      wait,
    }
    const result = await runCompaction(
      {
        trigger: 'manual',
        reason: 'test',
        view: fold.view(),
        recordOf: (uuid) => fold.entry(uuid)?.record,
        threshold: 0,
        sessionId: 'bench',
        lastUuid: all.map((record) => stringAt(record, 'uuid')).findLast((uuid) => uuid !== undefined),
        ...input,
      },
      ports,
      { ...(signal ? { signal } : {}), ...(write ? { write } : {}) },
    )
    if (result.type === 'compacted') add(result.records)
    return result
  }
  return { fold, view: () => fold.view(), add, records: all, events, compact }
}

/** No test waits: short waits end at once, the keep-alive's when the work does. */
const untilStopped: CompactionPorts['wait'] = async (milliseconds, signal) => {
  if (milliseconds < 30_000) return
  await new Promise<void>((resolve) => signal?.addEventListener('abort', resolve, { once: true }))
}

/** The conversation's own request for a view, with a client's typical cache marks. */
export function ownRequest(view: View, choices: Partial<ModelRequest> = {}): ModelRequest {
  const messages = repairRequest(view.messages).messages.map(({ role, content }) => ({ role, content }))
  return {
    source: 'turn',
    model: 'claude-sonnet-4-5',
    system: [{ type: 'text', text: 'You are a careful engineer. '.repeat(200), cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'Read', description: 'Reads a file.', input_schema: { type: 'object' } }],
    maxTokens: 16_000,
    options: { cache_control: { type: 'ephemeral' } },
    messages,
    ...choices,
  }
}

/** A made-up session without a boundary. */
export function conversation(seed = 1, options: Partial<SessionOptions> = {}): Bench {
  return bench(generateWithTruth({ seed, targetBytes: 200_000, boundaries: 0, ...options }).records)
}

export function done(result: Compaction | Failed): Compaction {
  if (result.type === 'failed') throw new Error(`${result.reason}: ${result.why}`)
  return result
}

export const bare = (messages: readonly Message[]): readonly Message[] =>
  messages.map(({ role, content }) => ({ role, content }))

/** Invariants after every compaction with any summary. Returns the broken ones as sentences. */
export function brokenBy(table: Bench, result: Compaction): readonly string[] {
  const { messages } = table.view()
  const broken: string[] = []
  if (JSON.stringify(bare(messages)) !== JSON.stringify(bare(result.messages)))
    broken.push('the view is not what was promised')
  for (const problem of checkRequest(repairRequest(messages).messages)) broken.push(JSON.stringify(problem))
  if (result.tokens.after >= result.tokens.before) broken.push('it is not smaller')
  return broken
}
