// Where agents keep their sessions on this machine.
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Environment } from 'everlong'
import { cacheFolder, type Unreadable } from 'everlong/internal/node'
import { anyAgent } from './agent-names.ts'
import { homeOf } from './commands/install/place.ts'
import { copyOpencodeSessions } from './opencode-sessions.ts'

type AgentHome = { readonly agent: string; readonly folder: string; readonly database?: string }

/** `folders`: those that exist. */
export type OwnSessions = { readonly folders: readonly string[]; readonly unreadable: readonly Unreadable[] }

/** The sessions of all agents on this machine. Those that an agent keeps in a database are copied into files first. */
export function ownSessions(env: Environment): OwnSessions {
  const homes = agentHomes(env)
  const unreadable = homes.flatMap(({ database, folder }) =>
    database === undefined ? [] : copyOpencodeSessions(database, folder),
  )
  return { folders: homes.map(({ folder }) => folder).filter((folder) => existsSync(folder)), unreadable }
}

function agentHomes(env: Environment): readonly AgentHome[] {
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
    {
      agent: 'opencode',
      folder: join(cacheFolder(env, home), 'opencode'),
      database: join(own('XDG_DATA_HOME', '.local', 'share'), 'opencode', 'opencode.db'),
    },
  ]
}

export function nothingHere(command: string): string {
  return `found no sessions of ${anyAgent} on this machine. Name a file or folder: everlong ${command} PATH`
}
