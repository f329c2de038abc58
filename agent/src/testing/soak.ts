// A long session of the loop: task after task, each with a rule that must hold to the end. Checks every request, and the final
// state.
import type { FaultPlan } from '@everlong/simulator'
import { checkRequest, textOf } from 'everlong/internal'
import { contextTokens } from 'everlong/internal/compaction'
import type { Session } from 'everlong/node'
import { query } from '../loop.ts'
import { type Stage, type StageOptions, setStage } from './stage.ts'

export type SoakOptions = StageOptions & {
  readonly turns: number
  readonly path?: string
  /** After each task. */
  readonly onTask?: (task: number, session: Session) => void
}

export type SoakReport = {
  readonly turns: number
  readonly tasks: number
  /** Number of rules given: one with each of the first tasks. */
  readonly rules: number
  readonly compactions: number
  /** Number of requests with a fault. */
  readonly faults: number
  /** Requests of turns that break a rule of the API or exceed the window. */
  readonly invalid: readonly string[]
  readonly largest: number
  /** Rules that the context no longer contains verbatim. */
  readonly lost: readonly string[]
  /** Unexpected endings of loops. */
  readonly endings: readonly string[]
}

export const soakWindow = 24_000
const turnsPerTask = 12
/** More rules than anyone gives. If there are more than fit on the page, the oldest are dropped. */
const maxRules = 50

const faultTypes = [
  'overloaded',
  'server-error',
  'rate-limit',
  'cut-before',
  'cut-during',
  'error-event',
  'truncate',
] as const

/** One request in twenty fails: a refusal, a broken connection, a stream that ends too early. */
export const soakFaults: FaultPlan = {
  seed: 9,
  rules: faultTypes.map((type) => ({ probability: 0.05 / faultTypes.length, fault: { type } })),
}

export async function soak({ turns, path, onTask, ...options }: SoakOptions): Promise<SoakReport> {
  let faults = 0
  const stage = await setStage({
    window: soakWindow,
    turnsPerTask,
    ...options,
    ...(options.faults ? { faults: { ...options.faults, onFault: () => faults++ } } : {}),
    engine: { ...options.engine, settings: { maxOutputTokens: 4_000, ...options.engine?.settings } },
  })
  const session = await stage.engine.start({ maxTokens: 4_000, system: 'You mend bugs.', ...(path ? { path } : {}) })
  const watch = createWatch(stage)
  const endings: string[] = []
  let done = 0
  let task = 0
  for (; done < turns; task++) {
    session.add({
      role: 'user',
      content: `Task ${task + 1}: make the tests pass. ${task < maxRules ? ruleOf(task) : ''}`,
    })
    for await (const event of query({ session, tools: stage.tools, maxTurns: turnsPerTask })) {
      if (event.type === 'answer') done++
      if (event.type === 'stopped' && event.why !== 'finished' && event.why !== 'turn-limit') endings.push(event.why)
      if (event.type === 'failed') endings.push(`${event.failure.reason}: ${event.failure.message}`)
    }
    watch.look()
    onTask?.(task, session)
  }
  const context = session
    .messages()
    .map(({ content }) => textOf(content))
    .join('\n')
  const rules = Array.from({ length: Math.min(task, maxRules) }, (_, at) => ruleOf(at))
  const lost = rules.filter((rule) => !context.includes(rule))
  await session.close()
  await stage.close()
  return { turns: done, tasks: task, rules: rules.length, faults, endings, lost, ...watch.report() }
}

function ruleOf(task: number): string {
  return `Never rename the export number ${task + 1} of src/generated/tables.ts.`
}

function createWatch(stage: Stage) {
  const invalid: string[] = []
  let largest = 0
  let compactions = 0
  return {
    /** Checks the new requests and drops them, so that the watcher of a long run does not fill the memory. */
    look: () => {
      for (const { request, result } of stage.sent.splice(0)) {
        if (request.source !== 'turn') continue
        for (const { type, message } of checkRequest(request.messages)) invalid.push(`${type} at ${message}`)
        if (result.type === 'failed' && result.reason !== 'transient') invalid.push(result.message)
        if (result.type === 'answer') largest = Math.max(largest, contextTokens(result.usage))
      }
      compactions += stage.events.splice(0).filter(({ type }) => type === 'compaction-finished').length
    },
    report: () => ({ invalid, largest, compactions }),
  }
}
