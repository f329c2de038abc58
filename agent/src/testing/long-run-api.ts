// The simulated API of a long run, in its own thread, so that its memory does not count as the agent's.
import { parentPort, workerData } from 'node:worker_threads'
import {
  type Answer,
  asksForNotes,
  asksForSummary,
  combine,
  noteTaker,
  repositoryIn,
  route,
  type Script,
  type ScriptRequest,
  startServer,
  summarizer,
  toolUse,
  agent as worker,
} from '@everlong/simulator'
import { soakFaults } from './soak.ts'
import { shortWait } from './stage.ts'

export type LongRunApi = {
  /** The folder of the repository. */
  readonly root: string
  readonly model: string
  readonly window: number
  readonly turnsPerTask: number
  readonly hasFaults: boolean
}

export type FromApi = { readonly type: 'ready'; readonly url: string } | { readonly type: 'fault' }

async function serve({ root, model, window, turnsPerTask, hasFaults }: LongRunApi): Promise<void> {
  const tell = (message: FromApi) => parentPort?.postMessage(message)
  const repository = repositoryIn(root)
  const rules = [
    { when: asksForNotes, script: noteTaker() },
    { when: asksForSummary, script: summarizer() },
    { when: isSubagent, script: worker({ repository, seed: 5, turnsPerTask: 4 }) },
  ]
  const main = withHelpers(worker({ repository, seed: 3, turnsPerTask }))
  const faults = { wait: shortWait, ...soakFaults, onFault: () => tell({ type: 'fault' }) }
  const { url } = await startServer({
    script: route(rules, main),
    windows: { [model]: window },
    ...(hasFaults ? { faults } : {}),
  })
  tell({ type: 'ready', url })
}

/** Sub-agents cannot start others. */
function isSubagent({ tools }: ScriptRequest): boolean {
  return !tools.some(({ name }) => name === 'Task')
}

/** Like the worker, but now and then starts a sub-agent, uses the skill, or calls the server. */
function withHelpers(script: Script): Script {
  return async (request, context) => {
    const answer = await script(request, context)
    const isWorking = answer.content.some(({ type }) => type === 'tool_use')
    const helper = helpers[context.turn % 20]
    return isWorking && helper ? combine(answer, helper) : answer
  }
}

const helpers: Readonly<Record<number, Answer>> = {
  2: toolUse('Task', { description: 'Find limits', prompt: 'Find where limits are read. Report the files.' }),
  5: toolUse('Skill', { skill: 'release-notes' }),
  8: toolUse('ToolSearch', { query: 'add numbers' }),
  9: toolUse('McpCall', { tool: 'mcp__test__add_numbers', arguments: { a: 2, b: 3 } }),
  14: toolUse('Task', {
    description: 'Look for tests',
    prompt: 'List the slowest tests.',
    subagent_type: 'explore',
    run_in_background: true,
  }),
}

// Other files import only its types.
if (parentPort) await serve(workerData as LongRunApi)
