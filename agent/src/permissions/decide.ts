// Decides about one call: allowed, denied, or ask. Pure. A deny rule overrides everything. If it is uncertain whether such a rule
// covers a command, the person is asked in every mode.
import { dirname, relative, sep } from 'node:path'
import type { PermissionMode } from '../app.ts'
import { escapeGlob } from '../files/glob.ts'
import { isWithin, type Place } from '../files/paths.ts'
import { type Coverage, commandCoverage, commandPattern, commandText, no, yes } from './coverage.ts'
import { type Disk, noDisk } from './disk.ts'
import { listingOnce } from './hard-links.ts'
import { coversHost, deniesConnection, deniesHost } from './host-rules.ts'
import { pathCoverage, type Where } from './named-paths.ts'
import { exactly, rulesForScript } from './offered-rules.ts'
import { coversPath, hiddenBy, isOpened, otherNames } from './path-rules.ts'
import { isProtected } from './protected.ts'
import { isReadOnly, type Looking, mayChange, readOnlyCommands } from './read-only.ts'
import { formatRule, parseRule, type Rule, type RuleSet, ruleWords } from './rule.ts'
import type { Script } from './script.ts'
import { isSecretFile } from './secrets.ts'

/** The action of a call. */
export type Access =
  | { readonly type: 'read'; readonly tool: string; readonly place: Place }
  | { readonly type: 'write'; readonly tool: string; readonly place: Place }
  | {
      readonly type: 'run'
      readonly script: Script
      /** Inside the sandbox, which protects files and network by itself, or outside although there is one. */
      readonly sandbox?: 'inside' | 'outside'
      /** The reason why it may read something that a rule denies. */
      readonly doubt?: string
      /** Files that it deletes permanently although it runs in the sandbox. */
      readonly loss?: string
    }
  /** A command in the sandbox connects to a host. */
  | { readonly type: 'connect'; readonly host: string }
  | {
      readonly type: 'fetch'
      readonly host: string
      /** The addresses that the host's name resolves to. */
      readonly addresses: readonly string[]
      readonly isPrivate: boolean
    }
  /** Another tool. A safe one only reads, or asks by itself for what it needs. Rules may still deny it. */
  | { readonly type: 'call'; readonly tool: string; readonly argument?: string; readonly isSafe: boolean }

export type Decision =
  | { readonly type: 'allow' }
  | { readonly type: 'deny'; readonly reason: string }
  | { readonly type: 'ask'; readonly reason?: string; readonly rules: readonly Rule[] }

export type DecideOptions = {
  readonly mode: PermissionMode
  readonly rules: RuleSet
  /** The workspace's folder with all links resolved. */
  readonly root: string
  /** Our own folders that may be read: output of earlier commands. */
  readonly ownFolders?: readonly string[]
  /** For the files that a command names. */
  readonly disk?: Disk
}

export function decide(access: Access, options: DecideOptions): Decision {
  const { mode, rules, root, ownFolders = [] } = options
  const disk = listingOnce(options.disk ?? noDisk)
  const isSecret = (path: string) => isSecretFile(path) && !isOpened(rules.allow, path, root)
  const looking = { root, disk, isHidden: hiddenBy(rules.deny, { root, disk }), isSecret }
  const denials = rules.deny.map((rule) => ({ rule, coverage: denies(rule, access, { root, disk }) }))
  const denial = denials.find(({ coverage }) => coverage.type === 'yes')
  if (denial) return { type: 'deny', reason: `the rule ${formatRule(denial.rule)} in the settings forbids it` }
  if (mode === 'plan' && changes(access, looking)) {
    return { type: 'deny', reason: 'plan mode is on, so nothing may be changed; finish the plan and call ExitPlanMode' }
  }
  if (access.type === 'run' && isAllowedInFull(rules.allow, access.script)) return { type: 'allow' }
  if (access.type === 'run' && access.doubt !== undefined) return inDoubt(access, options, access.doubt)
  const isInside = access.type === 'run' && access.sandbox === 'inside'
  for (const { rule, coverage } of denials) {
    // In the sandbox, a file that a rule denies does not exist.
    if (isInside && rule.type === 'path') continue
    if (coverage.type === 'maybe') return inDoubt(access, options, `${formatRule(rule)} may forbid it: ${coverage.why}`)
  }
  if (access.type === 'read' && !isSecretPlace(access.place)) {
    const { place } = access
    if (place.isInside || ownFolders.some((folder) => isWithin(folder, place.real))) return { type: 'allow' }
  }
  if ((isInside && access.loss === undefined) || (access.type === 'call' && access.isSafe)) return { type: 'allow' }
  if (isAllowed(rules.allow, access, looking)) return { type: 'allow' }
  if (mode === 'allow') return { type: 'allow' }
  if (mode === 'accept-edits' && isOrdinaryEdit(access, root)) return { type: 'allow' }
  return { type: 'ask', ...reasonFor(access, root), rules: offered(access, options, looking) }
}

/** The workspace may contain files with secrets, and reading one asks as if it were outside. */
function isSecretPlace({ path, real }: Place): boolean {
  return [path, real].some(isSecretFile)
}

function changes(access: Access, looking: Looking): boolean {
  return (
    access.type === 'write' || (access.type === 'run' && !isReadOnly(access.script, looking)) || isUnsafeCall(access)
  )
}

function isUnsafeCall(access: Access): boolean {
  return access.type === 'call' && !access.isSafe
}

/** For a command that a rule may deny, "always" allows exactly this text, because a person has not read anything wider. */
function inDoubt(access: Access, { root }: DecideOptions, reason: string): Decision {
  const rules = access.type === 'run' ? [exactly(access.script)] : rulesFor(access, root)
  return { type: 'ask', reason, rules: rules.filter(readsBack) }
}

/** The rules that "always" adds. */
function offered(access: Access, { rules, root }: DecideOptions, looking: Looking): readonly Rule[] {
  if (access.type !== 'run') return rulesFor(access, root).filter(readsBack)
  const { script } = access
  const found = rulesForScript(script, allowedCommands(rules.allow, script, looking))
  return found.every(readsBack) ? found : []
}

/** A rule that reads back differently would allow more than was shown. */
function readsBack(rule: Rule): boolean {
  const read = parseRule(formatRule(rule))
  return read.type === 'rule' && JSON.stringify(read.rule) === JSON.stringify(rule)
}

/** The reason to ask, if it is not obvious. */
function reasonFor(access: Access, root: string): { readonly reason?: string } {
  if (access.type === 'fetch')
    return access.isPrivate ? { reason: 'the address is on this machine or a private network' } : {}
  if (access.type === 'run' && access.sandbox === 'outside') return { reason: 'outside the sandbox' }
  if (access.type === 'run' && access.loss !== undefined) return { reason: access.loss }
  if (access.type === 'connect') return { reason: 'the network is closed for commands in the sandbox' }
  if (access.type !== 'read' && access.type !== 'write') return {}
  const { place } = access
  if (place.leadsOut) return { reason: `a link leads out of the workspace, to ${place.real}` }
  if (!place.isInside) return { reason: 'outside the workspace' }
  if (access.type === 'read') return { reason: 'it may hold secrets' }
  return access.type === 'write' && isProtected(place.real, root)
    ? { reason: 'changing it can change what runs later' }
    : {}
}

/** Whether the mode `accept-edits` would allow it. */
export function isOrdinaryEdit(access: Access, root: string): boolean {
  return access.type === 'write' && access.place.isInside && !isProtected(access.place.real, root)
}

function rulesFor(access: Exclude<Access, { readonly type: 'run' }>, root: string): readonly Rule[] {
  switch (access.type) {
    case 'read': {
      const { real } = access.place
      if (isSecretPlace(access.place)) return [{ tool: 'Read', type: 'path', pattern: patternFor(real, root) }]
      const folder = dirname(real)
      return folder === sep ? [] : [{ tool: 'Read', type: 'path', pattern: `/${escapeGlob(folder)}/**` }]
    }
    case 'write': {
      return [{ tool: 'Edit', type: 'path', pattern: patternFor(access.place.real, root) }]
    }
    case 'fetch':
      return [{ tool: 'WebFetch', type: 'domain', domain: access.host }]
    case 'connect':
      return [{ tool: 'Network', type: 'domain', domain: access.host }]
    case 'call': {
      const { tool, argument } = access
      return [argument === undefined ? { tool, type: 'any' } : { tool, type: 'argument', value: argument }]
    }
  }
}

/** Covers only this file. */
function patternFor(real: string, root: string): string {
  return isWithin(root, real) ? `/${escapeGlob(relative(root, real))}` : `/${escapeGlob(real)}`
}

function isAllowed(allow: readonly Rule[], access: Access, looking: Looking): boolean {
  switch (access.type) {
    case 'run':
      return isCommandAllowed(allow, access.script, looking)
    case 'read':
    case 'write':
      // Only the real path counts.
      return allow.some((rule) => isFor(rule, access) && coversPath(rule, access.place.real, looking.root))
    case 'fetch':
      return allow.some((rule) => rule.tool === 'WebFetch' && coversHost(rule, access.host, access.isPrivate))
    case 'connect':
      return allow.some((rule) => rule.tool === 'Network' && coversHost(rule, access.host, false))
    case 'call':
      return allow.some((rule) => coversCall(rule, access))
  }
}

/** True if a rule contains the whole script verbatim, so that somebody has read it. */
function isAllowedInFull(allow: readonly Rule[], { text }: Script): boolean {
  return allow.some((rule) => rule.type === 'command' && rule.script === text.trim())
}

function isCommandAllowed(allow: readonly Rule[], script: Script, looking: Looking): boolean {
  if (allow.some(({ tool, type }) => tool === 'Bash' && type === 'any')) return true
  return script.plain?.every(allowedCommands(allow, script, looking)) ?? false
}

/** The commands of the script that only read or that some rule covers. */
function allowedCommands(allow: readonly Rule[], script: Script, looking: Looking) {
  const rules = allow.filter(({ tool }) => tool === 'Bash')
  const secrets = { pattern: '.env', covers: looking.isSecret }
  const namesSecret = pathCoverage(secrets, script, looking).type === 'yes'
  const looks = namesSecret ? () => false : readOnlyCommands(script, looking)
  return (words: readonly string[]) => looks(words) || rules.some((rule) => allowsCommand(rule, words))
}

function allowsCommand(rule: Rule, words: readonly string[]): boolean {
  if (rule.type === 'command') {
    const own = ruleWords(rule.script)
    return own?.length === words.length && own.every((word, at) => words[at] === word)
  }
  const isCovered =
    (rule.type === 'command-prefix' && rule.words.every((word, at) => words[at] === word)) ||
    (rule.type === 'command-pattern' && commandPattern(rule.pattern).test(commandText(words)))
  return isCovered && !writesByOption(words)
}

/** `git log --output=FILE` writes a file. A rule for `git log` does not mean that. */
function writesByOption([program, ...rest]: readonly string[]): boolean {
  return program === 'git' && rest.some((word) => word.startsWith('--out'))
}

function denies(rule: Rule, access: Access, where: Where): Coverage {
  switch (access.type) {
    case 'run':
      return rule.tool === 'Bash' ? commandCoverage(rule, access.script) : fileCoverage(rule, access.script, where)
    case 'read':
    case 'write': {
      const { path, real } = access.place
      if (!isFor(rule, access)) return no
      if ([path, real].some((each) => coversPath(rule, each, where.root))) return yes
      return otherNames(rule, where)(real)
    }
    case 'fetch':
      return rule.tool === 'WebFetch' && (rule.type === 'any' || deniesHost(rule, access)) ? yes : no
    case 'connect':
      return deniesConnection(rule, access.host) ? yes : no
    case 'call':
      return coversCall(rule, access) ? yes : no
  }
}

/** Commands that name a file that must not be read or changed. */
function fileCoverage(rule: Rule, script: Script, where: Where): Coverage {
  if (rule.type !== 'path') return no
  const covers = (path: string) => coversPath(rule, path, where.root)
  // A command that only looks changes no file.
  const isAbout = /^(?:Edit|Write)$/.test(rule.tool) ? mayChange : () => true
  const path = { pattern: rule.pattern, covers, isOtherName: otherNames(rule, where), isAbout }
  return pathCoverage(path, script, where)
}

/** `Edit` covers every tool that writes files and `Read` every one that reads them. */
function isFor({ tool }: Rule, access: Access & { readonly type: 'read' | 'write' }): boolean {
  return tool === access.tool || tool === (access.type === 'read' ? 'Read' : 'Edit')
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
