// A stage for the whole agent: its own folder and home, the simulated API with a real client, and the tools that a test gives it.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  asksForNotes,
  asksForSummary,
  createSimulator,
  type FaultPlan,
  noteTaker,
  route,
  type Script,
  summarizer,
  withFaults,
} from '@everlong/simulator'
import type { ModelRequest } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { type ModelPorts, systemPorts } from 'everlong/internal'
import { afterEach } from 'vitest'
import type { Agent, AgentEvent, Person } from '../app.ts'
import { type AgentOptions, createAgent } from '../create-agent.ts'
import type { ChosenModel } from '../models/chosen.ts'
import { patientClient } from '../models/patient.ts'
import { noSettings, type Settings } from '../settings/settings.ts'
import type { AnyTool } from '../tool.ts'
import type { ToolSetup } from '../tool-set.ts'

export type AgentStageOptions = {
  readonly script: Script
  readonly tools?: readonly AnyTool[]
  readonly settings?: Partial<Settings>
  readonly person?: Partial<Person>
  readonly summaries?: Script
  /** Faults between the client and the API. */
  readonly faults?: FaultPlan
  /** The clock for the client's retries. */
  readonly ports?: ModelPorts
  /** Puts files into the folder. */
  readonly prepare?: (places: { readonly folder: string; readonly home: string }) => void
  readonly agent?: Partial<AgentOptions>
}

export type AgentStage = {
  readonly agent: Agent
  readonly folder: string
  readonly home: string
  readonly events: AgentEvent[]
  /** Requests of turns, in order. */
  readonly requests: ModelRequest[]
  readonly setup: () => ToolSetup
  /** Another agent in the same folder, after this one was closed. */
  readonly again: (agent: Partial<AgentOptions>) => Promise<AgentStage>
}

const name = 'claude-opus-4-5'

export function agentStages(): (options: AgentStageOptions) => Promise<AgentStage> {
  const agents: Agent[] = []
  const folders: string[] = []
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close()
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  const set = async (options: AgentStageOptions, root: string): Promise<AgentStage> => {
    const places = { folder: join(root, 'project'), home: join(root, 'home') }
    const requests: ModelRequest[] = []
    const model = modelFor(options, requests)
    let setup: ToolSetup | undefined
    const events: AgentEvent[] = []
    const agent = await createAgent({
      ...places,
      settings: { ...noSettings, ...options.settings },
      model,
      env: {},
      person: {
        askPermission: async () => ({ type: 'allow' }),
        askQuestions: async () => undefined,
        ...options.person,
      },
      createTools: async (given) => {
        setup = given
        return { tools: options.tools ?? [], close: async () => undefined }
      },
      ...options.agent,
    })
    agents.push(agent)
    agent.on((event) => events.push(event))
    return {
      ...{ agent, events, requests, ...places },
      setup: () => {
        if (!setup) throw new Error('There are no tools yet.')
        return setup
      },
      again: (other) => set({ ...options, agent: { ...options.agent, ...other } }, root),
    }
  }
  return async (options) => {
    const root = mkdtempSync(join(tmpdir(), 'everlong-agent-'))
    folders.push(root)
    for (const place of ['project', 'home']) mkdirSync(join(root, place))
    options.prepare?.({ folder: join(root, 'project'), home: join(root, 'home') })
    return set(options, root)
  }
}

function modelFor(
  { script, summaries, faults = {}, ports = systemPorts }: AgentStageOptions,
  requests: ModelRequest[],
): ChosenModel {
  const rules = [
    { when: asksForNotes, script: noteTaker() },
    { when: asksForSummary, script: summaries ?? summarizer() },
  ]
  const simulator = createSimulator({ script: route(rules, script) })
  const faulty = withFaults(simulator.fetch, faults)
  const client = patientClient((retry = {}) =>
    anthropic({
      ...{ model: name, apiKey: 'none', baseURL: 'http://127.0.0.1', retry, ports },
      fetch: async (input, init) => faulty(new Request(input as string, init)),
    }),
  )
  const send: typeof client.send = (request, options) => {
    const { source, model, system = '', tools = [], messages } = request
    if (source === 'turn') requests.push({ source, model, system, tools, messages })
    return client.send(request, options)
  }
  return { type: 'model', words: `anthropic:${name}`, name, client: { ...client, send } }
}
