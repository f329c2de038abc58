// Where the agents on this machine keep their sessions.
import { isAbsolute, join } from 'node:path'
import type { Environment } from 'everlong'
import { homeOf } from './install/place.ts'

export type AgentHome = { readonly agent: string; readonly folder: string }

/** Whether or not the folders exist. opencode is missing: it keeps its sessions in a database. */
export function agentHomes(env: Environment): readonly AgentHome[] {
  const home = homeOf(env)
  // A relative path would name a folder of whatever project this runs in.
  const own = (name: string, ...usual: readonly string[]) => {
    const set = env[name]
    return set !== undefined && isAbsolute(set) ? set : join(home, ...usual)
  }
  return [
    { agent: 'Claude Code', folder: join(own('CLAUDE_CONFIG_DIR', '.claude'), 'projects') },
    { agent: 'Codex', folder: join(own('CODEX_HOME', '.codex'), 'sessions') },
    { agent: 'pi', folder: join(own('PI_CODING_AGENT_DIR', '.pi', 'agent'), 'sessions') },
    { agent: 'Gemini CLI', folder: join(home, '.gemini', 'tmp') },
    { agent: 'Copilot CLI', folder: join(home, '.copilot', 'session-state') },
    { agent: 'Cursor', folder: join(home, '.cursor', 'projects') },
  ]
}
