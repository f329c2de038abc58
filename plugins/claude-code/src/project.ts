// Where Claude Code keeps the transcripts of a project.
import { homedir } from 'node:os'
import { join } from 'node:path'

export type Environment = { readonly [name: string]: string | undefined }

/** Claude Code names the folder after the project's path, with a hyphen for everything but letters and digits. */
export function projectFolder(cwd: string, env: Environment): string {
  const config = env.CLAUDE_CONFIG_DIR || join(env.HOME ?? homedir(), '.claude')
  return join(config, 'projects', cwd.replaceAll(/[^a-zA-Z0-9]/g, '-'))
}

/** Undefined unless it is a session id: ids come from outside and become file names. */
export function sessionName(id: unknown): string | undefined {
  return typeof id === 'string' && /^[\w-]{1,100}$/.test(id) ? id : undefined
}
