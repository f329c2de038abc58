// The agent, in its own thread: started with the options of the command line, and served to the terminal.
import { type StartOptions, startAgent } from '@everlong/agent/host'
import { commandInfos, pastOf, serveInWorker } from '@everlong/agent/terminal/worker'
import { agentWithoutMarks } from './marks.ts'
import { startDemoModel } from './options.ts'

export type AgentWorkerData = Omit<StartOptions, 'env' | 'person' | 'chosen' | 'demo' | 'isHeadless'>

serveInWorker<AgentWorkerData>(async (options, person) => {
  const started = await startAgent({ ...options, env: process.env, person, demo: startDemoModel })
  if (started.type === 'no-model') return { type: 'none', why: '', setup: started.setup }
  if (started.type === 'refused') return { type: 'none', why: started.why.join('\n') }
  const { notices, settings } = started
  const agent = started.agent.state().model === 'demo' ? agentWithoutMarks(started.agent) : started.agent
  return {
    type: 'agent',
    agent,
    notices,
    statusLine: settings.statusLine?.command,
    bell: settings.bell,
    folder: options.folder,
    commands: commandInfos(agent),
    past: pastOf(agent, options.folder),
  }
})
