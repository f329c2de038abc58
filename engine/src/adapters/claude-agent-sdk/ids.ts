// Under which ids the SDK's sessions are stored: PROJECT.SESSION, and PROJECT.SESSION/subagents/NAME for what belongs to them.
// Every name is one that a store on disk accepts.
import { hashText } from '../../core/text/hash.ts'
import type { AgentSessionKey } from './types.ts'

/** Everything of a project begins like this. */
export function projectPrefix(projectKey: string): string {
  const readable = projectKey.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')
  return `${readable.slice(-40).replace(/^-/, '') || 'project'}-${hashText(projectKey)}.`
}

export function storedId({ projectKey, sessionId, subpath }: AgentSessionKey): string {
  const id = `${projectPrefix(projectKey)}${escaped(sessionId)}`
  return subpath === undefined ? id : `${subkeyPrefix(id)}${nameOf(subpath)}`
}

export function subkeyPrefix(id: string): string {
  return `${id}/subagents/`
}

/** Undefined for ids of other projects and of sub-agents. */
export function sessionIn(id: string, projectKey: string): string | undefined {
  const prefix = projectPrefix(projectKey)
  return id.startsWith(prefix) && !id.includes('/') ? unescaped(id.slice(prefix.length)) : undefined
}

const folder = 'subagents/'
const other = 'x-'

/** Sub-agents are stored as Everlong stores its own; other paths are marked. */
function nameOf(subpath: string): string {
  const rest = subpath.startsWith(folder) ? subpath.slice(folder.length) : ''
  return /^[A-Za-z0-9]/.test(rest) && !rest.startsWith(other) ? escaped(rest) : `${other}${escaped(subpath)}`
}

export function subpathOf(name: string): string {
  return name.startsWith(other) ? unescaped(name.slice(other.length)) : `${folder}${unescaped(name)}`
}

/** Reversible: what is not a letter, a digit, "." or "-" becomes its bytes. */
function escaped(text: string): string {
  return encodeURIComponent(text)
    .replaceAll(/[^A-Za-z0-9.%-]/g, hex)
    .replaceAll('%', '_')
}

function hex(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

function unescaped(name: string): string {
  return decodeURIComponent(name.replaceAll('_', '%'))
}
