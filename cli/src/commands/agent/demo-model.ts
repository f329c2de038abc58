// The demo model: the simulated Messages API in this process. Its script works on the folder's files and needs no key and no
// network. The agent gets it from here, so that it does not depend on the simulator.
import type { ChosenModel } from '@everlong/agent/host'
import {
  agent,
  asksForNotes,
  asksForSummary,
  noteTaker,
  repositoryIn,
  route,
  type Script,
  startServer,
  summarizer,
} from '@everlong/simulator'
import { anthropic } from 'everlong/anthropic'

type DemoModelOptions = {
  /** Of the model, in tokens. Small, so that compactions are soon seen. */
  readonly window?: number
  /** Answers take a moment, as those of a real model do. */
  readonly isSlow?: boolean
  /** In the agent's place. */
  readonly script?: Script
}

const name = 'claude-sonnet-4-6'
const slowly = { first: 200, perEvent: 12 }

export async function demoModel(folder: string, options: DemoModelOptions = {}): Promise<ChosenModel> {
  const { window = 60_000, isSlow = false, script } = options
  const worker = script ?? agent({ repository: repositoryIn(folder), seed: 3, turnsPerTask: 9 })
  const server = await startServer({
    script: route(
      [
        { when: asksForNotes, script: noteTaker() },
        { when: asksForSummary, script: summarizer() },
      ],
      worker,
    ),
    windows: { [name]: window },
    ...(isSlow ? { latency: slowly } : {}),
  })
  const client = anthropic({
    model: name,
    apiKey: 'none',
    baseURL: server.url,
    maxTokens: 4_000,
    capabilities: { window, maxOutput: 4_000 },
  })
  return { type: 'model', words: 'demo', name, client, close: () => server.close() }
}
