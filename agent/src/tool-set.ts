// The tools of an agent, and their other functions.
import type { Session, SessionOptions } from 'everlong/node'
import type { AgentState, PermissionMode, Person } from './app.ts'
import type { Server } from './mcp/servers.ts'
import type { SandboxStatus } from './sandbox/modes.ts'
import type { Skill } from './skills/skills.ts'
import type { SubagentType } from './subagent-tool.ts'
import type { AnyTool, ToolContext, ToolOutput } from './tool.ts'
import type { Tasks } from './tools/tasks.ts'

export type ToolSet = {
  readonly tools: readonly AnyTool[]
  readonly state?: SessionOptions['state']
  readonly tasks?: Tasks
  readonly skills?: readonly Skill[]
  readonly servers?: readonly Server[]
  readonly agents?: readonly SubagentType[]
  /** Adds a folder to the workspace, and returns its path with all links resolved. */
  readonly addFolder?: (folder: string) => Promise<string>
  /** Runs a shell command that the person typed. Absent if there are none. */
  readonly runForPerson?: (command: string, context: ToolContext) => Promise<ToolOutput>
  /** Replaces the same secrets as the tools. */
  readonly redact?: (text: string) => string
  /** Whether commands run in the sandbox. */
  readonly sandbox?: () => SandboxStatus
  /** The current rules in their written form. */
  readonly rules?: () => { readonly allow: readonly string[]; readonly deny: readonly string[] }
  readonly close: () => Promise<void>
}

export type ToolSetup = {
  readonly person: Person
  readonly mode: () => PermissionMode
  readonly setMode: (mode: PermissionMode) => void
  readonly onTasks: (tasks: AgentState['tasks']) => void
  /** Sends the model news that nobody typed: a background task has ended. Starts a turn if none runs. */
  readonly sendNews: (news: string, session: Session) => void
  /** Shows the person one line. */
  readonly notify: (text: string) => void
}
