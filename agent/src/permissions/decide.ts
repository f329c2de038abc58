// Decides about one call: allowed, denied, or somebody must be asked. Pure. A rule that denies wins over everything; what
// is not understood asks.
import { homedir } from 'node:os'
import { dirname, relative, sep } from 'node:path'
import type { PermissionMode } from '../app.ts'
import { escapeGlob, glob, ignoreGlob } from '../files/glob.ts'
import { isWithin, type Place, slashed } from '../files/paths.ts'
import { type Disk, namesPath, noDisk, type Where } from './named-paths.ts'
import { possibleCommands } from './possible-commands.ts'
import { formatRule, parseRule, type Rule, type RuleSet } from './rule.ts'
import { onlyLooks, simpleCommands, type Words } from './shell.ts'

/** What a call wants to do. */
export type Access =
  | { readonly type: 'read'; readonly tool: string; readonly place: Place }
  | { readonly type: 'write'; readonly tool: string; readonly place: Place }
  | { readonly type: 'run'; readonly command: string }
  | { readonly type: 'fetch'; readonly host: string; readonly isPrivate: boolean }
  /** Another tool. A safe one only reads, or asks for itself what it needs; rules may still deny it. */
  | { readonly type: 'call'; readonly tool: string; readonly argument?: string; readonly isSafe: boolean }

export type Decision =
  | { readonly type: 'allow' }
  | { readonly type: 'deny'; readonly reason: string }
  | { readonly type: 'ask'; readonly reason?: string; readonly rule?: Rule }

export type DecideOptions = {
  readonly mode: PermissionMode
  readonly rules: RuleSet
  /** The workspace's folder behind all links. */
  readonly root: string
  /** Folders of our own that may be read: output of earlier commands. */
  readonly ownFolders?: readonly string[]
  /** For the files that a command names. */
  readonly disk?: Disk
}

export function decide(access: Access, options: DecideOptions): Decision {
  const { mode, rules, root, ownFolders = [], disk = noDisk } = options
  const denying = rules.deny.find((rule) => denies(rule, access, { root, disk }))
  if (denying) return { type: 'deny', reason: `the rule ${formatRule(denying)} in the settings forbids it` }
  if (mode === 'plan' && changes(access)) {
    return { type: 'deny', reason: 'plan mode is on, so nothing may be changed; finish the plan and call ExitPlanMode' }
  }
  if (access.type === 'read') {
    const { place } = access
    if (place.isInside || ownFolders.some((folder) => isWithin(folder, place.real))) return { type: 'allow' }
  }
  if (access.type === 'call' && access.isSafe) return { type: 'allow' }
  if (isAllowed(rules.allow, access, root)) return { type: 'allow' }
  if (mode === 'allow') return { type: 'allow' }
  if (mode === 'accept-edits' && access.type === 'write' && access.place.isInside && !isProtected(access.place, root)) {
    return { type: 'allow' }
  }
  return asking(access, root)
}

function changes(access: Access): boolean {
  return access.type === 'write' || (access.type === 'run' && !onlyLooks(access.command)) || isUnsafeCall(access)
}

function isUnsafeCall(access: Access): boolean {
  return access.type === 'call' && !access.isSafe
}

/** Changing these changes what runs later without a question. */
const protectedParts = new Set(['.git', '.everlong', '.claude', '.vscode', '.idea', '.husky'])

function isProtected({ real }: Place, root: string): boolean {
  return relative(root, real)
    .split(sep)
    .some((part) => protectedParts.has(part.toLowerCase()))
}

/** Says why, where that is not obvious, and which rule "always" would add. */
function asking(access: Access, root: string): Decision {
  const rule = ruleFor(access, root)
  // A rule that reads back as something else would allow more than was shown.
  const read = rule && parseRule(formatRule(rule))
  const isExact = read?.type === 'rule' && JSON.stringify(read.rule) === JSON.stringify(rule)
  const reason = reasonFor(access, root)
  return { type: 'ask', ...(reason === undefined ? {} : { reason }), ...(rule && isExact ? { rule } : {}) }
}

function reasonFor(access: Access, root: string): string | undefined {
  if (access.type === 'fetch')
    return access.isPrivate ? 'the address is on this machine or a private network' : undefined
  if (access.type !== 'read' && access.type !== 'write') return undefined
  const { place } = access
  if (place.leadsOut) return `a link leads out of the workspace, to ${place.real}`
  if (!place.isInside) return 'outside the workspace'
  return access.type === 'write' && isProtected(place, root) ? 'changing it can change what runs later' : undefined
}

function ruleFor(access: Access, root: string): Rule | undefined {
  switch (access.type) {
    case 'read': {
      const { real } = access.place
      const folder = dirname(real)
      return folder === sep ? undefined : { tool: 'Read', type: 'path', pattern: `/${escapeGlob(folder)}/**` }
    }
    case 'write': {
      const { real, isInside } = access.place
      const pattern = isInside ? `/${escapeGlob(relative(root, real))}` : `/${escapeGlob(real)}`
      return { tool: 'Edit', type: 'path', pattern }
    }
    case 'run':
      return { tool: 'Bash', type: 'command', script: access.command.trim() }
    case 'fetch':
      return { tool: 'WebFetch', type: 'domain', domain: access.host }
    case 'call': {
      const { tool, argument } = access
      return argument === undefined ? { tool, type: 'any' } : { tool, type: 'argument', value: argument }
    }
  }
}

function isAllowed(allow: readonly Rule[], access: Access, root: string): boolean {
  switch (access.type) {
    case 'run':
      return isCommandAllowed(allow, access.command)
    case 'read':
    case 'write':
      // Only where it really leads counts.
      return allow.some((rule) => isFor(rule, access) && coversPath(rule, access.place.real, root))
    case 'fetch':
      return allow.some((rule) => rule.tool === 'WebFetch' && coversHost(rule, access.host, access.isPrivate))
    case 'call':
      return allow.some((rule) => coversCall(rule, access))
  }
}

/** The whole script word for word, or every one of its commands by some rule. */
function isCommandAllowed(allow: readonly Rule[], script: string): boolean {
  const rules = allow.filter(({ tool }) => tool === 'Bash')
  if (rules.some((rule) => rule.type === 'any' || (rule.type === 'command' && rule.script === script.trim())))
    return true
  const commands = simpleCommands(script)
  return commands?.every((words) => rules.some((rule) => coversCommand(rule, words))) ?? false
}

function coversCommand(rule: Rule, words: Words): boolean {
  if (rule.type === 'command-prefix') return rule.words.every((word, at) => words[at] === word)
  if (rule.type !== 'command') return false
  const commands = simpleCommands(rule.script)
  const [own = []] = commands ?? []
  return commands?.length === 1 && own.length === words.length && own.every((word, at) => words[at] === word)
}

function denies(rule: Rule, access: Access, where: Where): boolean {
  switch (access.type) {
    case 'run':
      return rule.tool === 'Bash' ? deniesCommand(rule, access.command) : deniesFileOf(rule, access.command, where)
    case 'read':
    case 'write': {
      const { path, real } = access.place
      return isFor(rule, access) && [path, real].some((each) => coversPath(rule, each, where.root))
    }
    case 'fetch':
      return rule.tool === 'WebFetch' && (rule.type === 'any' || coversHost(rule, access.host, false))
    case 'call':
      return coversCall(rule, access)
  }
}

function deniesCommand(rule: Rule, script: string): boolean {
  if (rule.type === 'any' || (rule.type === 'command' && rule.script === script.trim())) return true
  const names = programsOf(rule)
  return possibleCommands(script).some(([name = '', ...rest]) => {
    const meant = /[*?[{]/.test(name) && name.length < longestName ? names.filter(glob(name)) : []
    return [name, ...meant].some((each) => coversCommand(rule, [each, ...rest]))
  })
}

const longestName = 200

/** The program that a rule names. The shell may put it in for a pattern. */
function programsOf(rule: Rule): readonly string[] {
  if (rule.type === 'command-prefix') return rule.words.slice(0, 1)
  return rule.type === 'command' ? (simpleCommands(rule.script) ?? []).flatMap(([name]) => name ?? []) : []
}

/** A command that names a file which may not be read or changed. */
function deniesFileOf(rule: Rule, script: string, where: Where): boolean {
  if (rule.type !== 'path') return false
  const covers = (path: string) => coversPath(rule, path, where.root)
  return namesPath({ pattern: rule.pattern, covers }, possibleCommands(script), where)
}

/** `Edit` covers every tool that writes files and `Read` every one that reads them. */
function isFor({ tool }: Rule, access: Access & { readonly type: 'read' | 'write' }): boolean {
  return tool === access.tool || tool === (access.type === 'read' ? 'Read' : 'Edit')
}

/** `//x` is absolute, `~/x` in the home folder, everything else below the workspace. */
export function coversPath(rule: Rule, path: string, root: string): boolean {
  if (rule.type === 'any') return true
  if (rule.type !== 'path') return false
  const { pattern } = rule
  if (pattern.startsWith('//') || pattern.startsWith('~/')) {
    const absolute = pattern.startsWith('//') ? pattern.slice(1) : escapeGlob(homedir()) + pattern.slice(1)
    return ignoreGlob(absolute).below(slashed(path).slice(1))
  }
  if (!isWithin(root, path)) return false
  return ignoreGlob(pattern.replace(/^\.\//, '/')).below(slashed(relative(root, path)))
}

/** A rule for a host on a private network must name it: `*.example.com` does not cover one. */
function coversHost(rule: Rule, host: string, isPrivate: boolean): boolean {
  if (rule.type === 'any') return !isPrivate
  if (rule.type !== 'domain') return false
  if (!rule.domain.startsWith('*.')) return rule.domain === host
  return !isPrivate && host.endsWith(rule.domain.slice(1))
}

function coversCall(rule: Rule, access: Access & { readonly type: 'call' }): boolean {
  const { tool, argument } = access
  if (rule.type === 'argument') return rule.tool === tool && rule.value === argument
  if (rule.type !== 'any') return false
  return rule.tool === tool || isServerRule(rule.tool, tool)
}

/** `mcp__server` and `mcp__server__*` cover every tool of the server. */
function isServerRule(rule: string, tool: string): boolean {
  if (!rule.startsWith('mcp__')) return false
  const server = rule.endsWith('__*') ? rule.slice(0, -3) : rule
  return tool === server || (server.split('__').length === 2 && tool.startsWith(`${server}__`))
}
