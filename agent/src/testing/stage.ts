// A stage for the loop: the simulated API with an agent and a summarizer, a made-up repository with working tools, and an engine.
// In process, or over HTTP on this machine.
import {
  type AgentOptions,
  agent,
  asksForNotes,
  asksForSummary,
  createSimulator,
  type FaultPlan,
  noteTaker,
  type Repository,
  route,
  type Script,
  type Simulator,
  type SimulatorOptions,
  startServer,
  summarizer,
  syntheticRepository,
  text,
  toolsOf,
  turnableClock,
  withFaults,
} from '@everlong/simulator'
import type { EngineEvent, ModelAnswer, ModelClient, ModelFailure, ModelRequest } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { type AbortSignalPort, systemPorts } from 'everlong/internal'
import { createEngine, type Engine, type EngineOptions } from 'everlong/node'
import { z } from 'zod'
import { type AnyTool, defineTool } from '../tool.ts'

export type StageOptions = {
  readonly model?: string
  /** Size of the model's window, in tokens. */
  readonly window?: number
  readonly turnsPerTask?: number
  /** Answers requests for a summary. */
  readonly summaries?: Script
  /** Answers requests for notes about the session. */
  readonly notes?: Script
  /** Replaces the agent's script. */
  readonly script?: Script
  readonly agent?: Partial<AgentOptions>
  readonly simulator?: Partial<SimulatorOptions>
  readonly engine?: Partial<EngineOptions>
  readonly faults?: FaultPlan
  readonly over?: 'process' | 'http'
}

export type Stage = {
  readonly engine: Engine
  readonly model: ModelClient
  readonly simulator: Simulator
  readonly repository: Repository
  readonly tools: readonly AnyTool[]
  readonly events: EngineEvent[]
  /** Every request and its result. */
  readonly sent: { readonly request: ModelRequest; readonly result: ModelAnswer | ModelFailure }[]
  readonly close: () => Promise<void>
}

export async function setStage(options: StageOptions = {}): Promise<Stage> {
  const { model: name = 'claude-opus-4-5', window, over = 'process' } = options
  const repository = syntheticRepository({ seed: 11, files: 24 })
  const worker =
    options.script ?? agent({ repository, seed: 3, turnsPerTask: options.turnsPerTask ?? 12, ...options.agent })
  const clock = turnableClock()
  const settings: SimulatorOptions = {
    script: route(
      [
        { when: asksForNotes, script: options.notes ?? noteTaker() },
        { when: asksForSummary, script: options.summaries ?? summarizer() },
      ],
      worker,
    ),
    clock,
    ...(window === undefined ? {} : { windows: { [name]: window } }),
    ...options.simulator,
  }
  const faults: FaultPlan | undefined = options.faults && { wait: (ms) => shortWait(ms), ...options.faults }
  const served = over === 'http' ? await startServer({ ...settings, ...(faults ? { faults } : {}) }) : undefined
  const simulator = served?.simulator ?? createSimulator(settings)
  const handle = faults ? withFaults((request) => simulator.fetch(request), faults) : undefined
  const fetch: typeof globalThis.fetch = async (input, init) =>
    handle ? handle(new Request(input, init)) : simulator.fetch(input as string, init)
  const sent: Stage['sent'] = []
  const client = anthropic({
    model: name,
    apiKey: 'none',
    baseURL: served?.url ?? 'http://127.0.0.1',
    ...(served ? {} : { fetch }),
    ports: { now: () => Date.now(), wait: shortWait, random: () => 0.5 },
  })
  const model: ModelClient = {
    ...client,
    send: async (request, how) => {
      const result = await client.send(request, how)
      sent.push({ request, result })
      return result
    },
  }
  const events: EngineEvent[] = []
  const engine = createEngine({
    model,
    environment: {},
    // The state of this checkout does not matter, and git would run at every compaction.
    workspace: { state: async () => ({ type: 'unknown', why: 'a test' }) },
    onEvent: (event) => events.push(event),
    ...options.engine,
    settings: { ...(window === undefined ? {} : { contextWindow: window }), ...options.engine?.settings },
    ports: { now: clock.now, wait: shortWait, ...options.engine?.ports },
  })
  return {
    engine,
    model,
    simulator,
    repository,
    tools: repositoryTools(repository),
    events,
    sent,
    close: async () => {
      await served?.close()
    },
  }
}

/** A stage whose window fills soon: the threshold is 59,000 and the target 35,400. Nothing is cleared before. */
export function setSmallStage(options: StageOptions = {}): Promise<Stage> {
  return setStage({
    window: 80_000,
    script: () => text('Here you are.'),
    ...options,
    engine: {
      ...options.engine,
      settings: {
        maxOutputTokens: 8_000,
        autoCompactAt: 59_000,
        blockingLimit: 69_000,
        reductions: { microCompact: false },
        ...options.engine?.settings,
      },
    },
  })
}

/** Retries wait hardly at all. Keep-alives and waits for silence take their real time. */
export function shortWait(milliseconds: number, signal?: AbortSignalPort): Promise<void> {
  return systemPorts.wait(milliseconds < 10_000 ? milliseconds / 200 : milliseconds, signal)
}

const readers: ReadonlySet<string> = new Set(['Read', 'Grep'])

/** The repository's own tools, which check their inputs themselves. */
export function repositoryTools(repository: Repository): readonly AnyTool[] {
  const tools = toolsOf(repository)
  return tools.definitions.map((definition) => ({
    ...defineTool({
      name: definition.name,
      description: definition.description ?? '',
      input: z.looseObject({}),
      isParallel: readers.has(definition.name),
      run: (input) => tools.run(definition.name, input),
    }),
    definition: { ...definition },
  }))
}
