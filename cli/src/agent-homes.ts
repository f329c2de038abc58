// Where agents keep their sessions on this machine.
import { isAbsolute, join } from 'node:path'
import type { Environment } from 'everlong'
import { homeOf } from './commands/install/place.ts'

export type AgentHome = { readonly agent: string; readonly folder: string }

/** Where agents keep their sessions, existing or not. opencode is not listed: it keeps its sessions in a database. */
export function agentHomes(env: Environment): readonly AgentHome[] {
  const home = homeOf(env)
  // A relative path would point into the current project.
  const own = (name: string, ...fallback: readonly string[]) => {
    const set = env[name]
    return set !== undefined && isAbsolute(set) ? set : join(home, ...fallback)
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

export function nothingHere(homes: readonly AgentHome[], command: string): string {
  const names = homes.map(({ agent }) => agent)
  return `found no sessions of ${names.slice(0, -1).join(', ')} or ${names.at(-1)} on this machine. Name a file or folder: everlong ${command} PATH`
}
