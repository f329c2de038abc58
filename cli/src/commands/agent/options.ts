// The options of `everlong agent`, converted for the agent.
import type { DemoModel, SessionWish } from '@everlong/agent/host'

export type AgentOptions = {
  /** True without a text: the prompt comes from stdin. */
  readonly prompt?: string | true
  readonly output?: 'text' | 'json' | 'stream-json'
  readonly continue?: boolean
  /** True without an id: a list to choose from. */
  readonly resume?: string | true
  readonly fork?: boolean
  readonly model?: string
  readonly permissionMode?: 'ask' | 'accept-edits' | 'plan' | 'allow'
  readonly allow?: readonly string[]
  readonly sandbox?: 'on' | 'ask' | 'required' | 'off'
  readonly deny?: readonly string[]
  readonly maxTurns?: number
  readonly trust?: boolean
  readonly plain?: boolean
}

export function startOptions(options: AgentOptions) {
  const { model, permissionMode: mode, allow = [], deny = [], sandbox, maxTurns, trust = false } = options
  return { model, mode, allow, deny, sandbox, maxTurns, isTrusting: trust, session: sessionIn(options) }
}

/** Loads the simulator only if the demo model is requested. */
export const startDemoModel: DemoModel = async (folder) => {
  const { demoModel } = await import('./demo-model.ts')
  return demoModel(folder)
}

function sessionIn({ continue: isContinuing, resume, fork = false }: AgentOptions): SessionWish {
  if (typeof resume === 'string') return { type: 'resume', id: resume, isCopy: fork }
  return isContinuing ? { type: 'continue', isCopy: fork } : { type: 'new' }
}
