// A long run of the whole agent: a generated repository in a real folder, real tools, sub-agents, an MCP server and a skill, in a
// small window. Checks every request, and the final state.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { syntheticRepository, writeRepository } from '@everlong/simulator'
import type { ModelAnswer, ModelClient, ModelFailure, ModelRequest } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { checkRequest, systemPorts, textOf } from 'everlong/internal'
import { contextTokens } from 'everlong/internal/compaction'
import type { Agent, AgentEvent } from '../app.ts'
import type { ChosenModel } from '../models/chosen.ts'
import { patientClient } from '../models/patient.ts'
import { startAgent } from '../start.ts'
import type { FromApi, LongRunApi } from './long-run-api.ts'
import { shortWait } from './stage.ts'

export type LongRunOptions = {
  /** Answers of the agent itself, without those of its sub-agents. */
  readonly turns: number
  /** On one request in twenty. */
  readonly hasFaults?: boolean
  /** Called after each task, which takes about twelve answers. */
  readonly onTask?: ((task: number, agent: Agent) => void) | undefined
}

export type LongRunReport = {
  readonly turns: number
  readonly tasks: number
  /** Tests of the repository that fail at the end. */
  readonly failing: readonly string[]
  /** Rules of the person that the context no longer contains verbatim. */
  readonly lost: readonly string[]
  /** Requests that break a rule of the API or exceed the window. */
  readonly invalid: readonly string[]
  /** Unexpected endings of turns. */
  readonly endings: readonly string[]
  readonly largest: number
  readonly compactions: number
  readonly faults: number
  /** In US dollars. */
  readonly cost: number
  /** Results without an error, by tool. */
  readonly calls: Readonly<Record<string, number>>
  /** Results with an error, by tool. A tool's refusals are part of the work. */
  readonly errors: Readonly<Record<string, number>>
}

export const longRunWindow = 28_000
const modelName = 'claude-opus-4-5'
const maxTokens = 4_000
const turnsPerTask = 12
/** If there are more rules than fit on the page, the oldest are dropped. */
const maxRules = 50

export async function longRun({ turns, hasFaults = false, onTask }: LongRunOptions): Promise<LongRunReport> {
  const base = mkdtempSync(join(tmpdir(), 'everlong-long-run-'))
  const folder = join(base, 'project')
  writeRepository(syntheticRepository({ seed: 11, files: 60 }), folder)
  writeExtras(base, folder)
  const watch = createWatch()
  const model = await setModel(folder, { hasFaults, watch })
  try {
    const started = await startAgent({
      folder,
      chosen: model,
      mode: 'allow',
      maxTurns: turnsPerTask,
      isTrusting: true,
      isHeadless: true,
      env: {
        ...process.env,
        EVERLONG_HOME: join(base, 'home'),
        PATH: `${join(base, 'bin')}${delimiter}${process.env.PATH}`,
      },
      person: { askPermission: async () => ({ type: 'deny' }), askQuestions: async () => undefined },
    })
    if (started.type !== 'started') throw new Error(`The agent did not start: ${JSON.stringify(started)}`)
    const { agent } = started
    try {
      const tasks = await work(agent, { turns, watch, onTask })
      return { ...watch.report(), ...endOf(agent, { tasks, folder }) }
    } finally {
      await agent.close()
    }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

type Watch = ReturnType<typeof createWatch>
type Work = Pick<LongRunOptions, 'turns' | 'onTask'> & { readonly watch: Watch }

/** Runs task after task, each with its own rule. Returns the number of rules. */
async function work(agent: Agent, { turns, watch, onTask }: Work): Promise<number> {
  agent.on((event) => watch.hear(event))
  let task = 0
  for (; watch.report().turns < turns; task++) {
    await agent.submit({ text: `Task ${task + 1}: make the tests pass. ${task < maxRules ? ruleOf(task) : ''}` })
    onTask?.(task, agent)
  }
  return task
}

function ruleOf(task: number): string {
  return `Never rename the export number ${task + 1} of src/generated/tables.ts.`
}

function endOf(agent: Agent, { tasks, folder }: { readonly tasks: number; readonly folder: string }) {
  const session = agent.session()
  const context = session.messages().map(({ content }) => textOf(content))
  const rules = Array.from({ length: Math.min(tasks, maxRules) }, (_, at) => ruleOf(at))
  const isThere = (words: string) => context.some((text) => text.includes(words))
  const spent = Object.values(session.spent())
  return {
    tasks,
    lost: rules.filter((rule) => !isThere(rule)),
    cost: spent.reduce((sum, { cost = 0 }) => sum + cost, 0),
    failing: failingTests(folder),
  }
}

function failingTests(folder: string): readonly string[] {
  const { stdout } = spawnSync(process.execPath, [join(folder, '.everlong-demo/test.mjs')], { encoding: 'utf8' })
  return [...stdout.matchAll(/^ FAIL {2}(.+)$/gm)].map(([, name = '']) => name)
}

/** A skill, an MCP server, and an npm that starts fast. */
function writeExtras(base: string, folder: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
  }
  const head = '---\nname: release-notes\ndescription: How release notes are written here.\n---\n'
  write(join(folder, '.everlong/skills/release-notes/SKILL.md'), `${head}One line for each change, the newest first.\n`)
  const server = { command: process.execPath, args: [join(import.meta.dirname, 'mcp-server.ts'), 'stdio'] }
  write(join(folder, '.everlong/settings.json'), JSON.stringify({ mcpServers: { test: server }, engine: settings }))
  const npm = join(base, 'bin/npm')
  const run = `exec '${process.execPath}' .everlong-demo`
  write(npm, `#!/bin/sh\ncase "$*" in test*) shift; ${run}/test.mjs "$@";; *) ${run}/build.mjs;; esac\n`)
  chmodSync(npm, 0o755)
}

const settings = { contextWindow: longRunWindow, maxOutputTokens: maxTokens }

type ModelSetup = { readonly hasFaults: boolean; readonly watch: Watch }

async function setModel(root: string, { hasFaults, watch }: ModelSetup): Promise<ChosenModel> {
  const data: LongRunApi = { root, hasFaults, window: longRunWindow, model: modelName, turnsPerTask }
  const api = new Worker(new URL('long-run-api.ts', import.meta.url), { workerData: data })
  const { promise: url, resolve, reject } = Promise.withResolvers<string>()
  api.on('message', (message: FromApi) => (message.type === 'ready' ? resolve(message.url) : watch.fault()))
  api.on('error', reject)
  const baseURL = await url
  const ports = { ...systemPorts, wait: shortWait, random: () => 0.5 }
  const client = patientClient((retry) =>
    anthropic({ model: modelName, apiKey: 'none', baseURL, ports, ...(retry ? { retry } : {}) }),
  )
  const send: ModelClient['send'] = async (request, how) => {
    const result = await client.send(request, how)
    watch.sent(request, result)
    return result
  }
  const close = async () => void (await api.terminate())
  return { type: 'model', words: 'simulated', name: modelName, client: { ...client, send }, close }
}

function createWatch() {
  const invalid: string[] = []
  const endings: string[] = []
  const calls: Record<string, number> = {}
  const errors: Record<string, number> = {}
  const seen = { turns: 0, largest: 0, compactions: 0, faults: 0 }
  return {
    fault: () => void seen.faults++,
    sent: (request: ModelRequest, result: ModelAnswer | ModelFailure) => {
      if (request.source !== 'turn') return
      for (const { type, message } of checkRequest(request.messages)) invalid.push(`${type} at ${message}`)
      if (result.type === 'failed' && result.reason !== 'transient') invalid.push(result.message)
      if (result.type === 'answer') seen.largest = Math.max(seen.largest, contextTokens(result.usage))
    },
    hear: (event: AgentEvent) => {
      if (event.type === 'answer') seen.turns++
      if (event.type === 'receipt') seen.compactions++
      if (event.type === 'tool-finished') {
        const counts = event.isError ? errors : calls
        counts[event.name] = (counts[event.name] ?? 0) + 1
      }
      if (event.type === 'stopped' && !['finished', 'turn-limit'].includes(event.why)) endings.push(event.why)
      if (event.type === 'failed') endings.push(`${event.failure.reason}: ${event.failure.message}`)
    },
    // The present state: a sub-agent in the background is aborted when the agent is closed, which is not an invalid request.
    report: () => structuredClone({ ...seen, invalid, endings, calls, errors }),
  }
}
