// The thread of the agent: starts it from what the command line said, and serves it to the terminal.
import { agentWithoutMarks } from '../demo/marks.ts'
import { type StartOptions, startAgent } from '../start.ts'
import { commandInfos } from './host/command-infos.ts'
import { serveInWorker } from './host/in-worker.ts'
import { pastOf } from './host/past.ts'

export type AgentWorkerData = Omit<StartOptions, 'env' | 'person' | 'chosen' | 'isHeadless'>

serveInWorker<AgentWorkerData>(async (options, person) => {
  const started = await startAgent({ ...options, env: process.env, person })
  if (started.type === 'no-model') return { type: 'none', why: '', setup: started.setup }
  if (started.type === 'refused') return { type: 'none', why: started.why.join('\n') }
  const { notices } = started
  const agent = started.agent.state().model === 'demo' ? agentWithoutMarks(started.agent) : started.agent
  return {
    type: 'agent',
    agent,
    notices,
    folder: options.folder,
    commands: commandInfos(),
    past: pastOf(agent, options.folder),
  }
})
