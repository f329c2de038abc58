// The demo model: the simulated Messages API in this process. Its script works on the folder's files and needs no key and no
// network. The agent gets it from here, so that it does not depend on the simulator.
import type { ChosenModel } from '@everlong/agent/host'
import type { Script } from '@everlong/simulator'
import { anthropic } from 'everlong/anthropic'

type DemoModelOptions = {
  /** Size of the model's window, in tokens. Small, so that compactions come soon. */
  readonly window?: number
  /** Whether answers take a moment, like those of a real model. */
  readonly isSlow?: boolean
  /** Replaces the agent's script. */
  readonly script?: Script
}

const name = 'claude-sonnet-4-6'
const slowly = { first: 200, perEvent: 12 }

export async function demoModel(folder: string, options: DemoModelOptions = {}): Promise<ChosenModel> {
  const { window = 60_000 } = options
  let simulator: ReturnType<typeof simulatorFor> | undefined
  const client = anthropic({
    model: name,
    apiKey: 'none',
    baseURL: 'http://127.0.0.1',
    maxTokens: 4_000,
    capabilities: { window, maxOutput: 4_000 },
    fetch: async (input, init) => {
      simulator ??= simulatorFor(folder, { ...options, window })
      return (await simulator).fetch(new Request(input as string, init))
    },
  })
  return { type: 'model', words: 'demo', name, client }
}

/** Loaded with the first request, which saves 50 MB at the start. */
async function simulatorFor(
  folder: string,
  { window, isSlow, script }: DemoModelOptions & { readonly window: number },
) {
  const { agent, asksForNotes, asksForSummary, createSimulator, noteTaker, repositoryIn, route, summarizer } =
    await import('@everlong/simulator')
  const rules = [
    { when: asksForNotes, script: noteTaker() },
    { when: asksForSummary, script: summarizer() },
  ]
  return createSimulator({
    script: route(rules, script ?? agent({ repository: repositoryIn(folder), seed: 3, turnsPerTask: 9 })),
    windows: { [name]: window },
    ...(isSlow ? { latency: slowly } : {}),
  })
}
