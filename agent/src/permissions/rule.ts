// Permission rules as people write them: `Bash(npm test)`, `Bash(git log:*)`, `Edit(src/**)`, `Read(//etc/**)`,
// `WebFetch(domain:example.com)`, `mcp__server__tool`, or a tool's name alone.
import { simpleCommands, type Words } from './shell.ts'

export type Rule = { readonly tool: string } & (
  | { readonly type: 'any' }
  | { readonly type: 'command'; readonly script: string }
  /** The command starts with these words. */
  | { readonly type: 'command-prefix'; readonly words: Words }
  | { readonly type: 'path'; readonly pattern: string }
  | { readonly type: 'domain'; readonly domain: string }
  | { readonly type: 'argument'; readonly value: string }
)

export type RuleRead =
  | { readonly type: 'rule'; readonly rule: Rule }
  | { readonly type: 'wrong'; readonly problem: string }

const pathTools: ReadonlySet<string> = new Set(['Read', 'Edit', 'Write', 'Grep', 'Glob'])

export function parseRule(text: string): RuleRead {
  const wrong = (problem: string): RuleRead => ({ type: 'wrong', problem: `${JSON.stringify(text)}: ${problem}` })
  const match = /^([A-Za-z_][\w-]*(?:\*)?)(?:\((.*)\))?$/s.exec(text.trim())
  if (!match) return wrong('expected a tool, or a tool with an argument in parentheses, such as Bash(npm test)')
  const [, tool = '', given] = match
  if (tool.endsWith('*') && !/^mcp__.+__\*$/.test(tool)) return wrong('only mcp__server__* may end with a star')
  if (given === undefined) return { type: 'rule', rule: { tool, type: 'any' } }
  const argument = given.trim()
  if (argument === '') return wrong('the parentheses are empty; leave them out to mean every use of the tool')
  if (argument === '*' || (pathTools.has(tool) && argument === '**'))
    return { type: 'rule', rule: { tool, type: 'any' } }
  if (tool === 'Bash') return commandRule(argument, wrong)
  if (pathTools.has(tool)) {
    if (argument.length > 500) return wrong('the pattern is longer than 500 characters')
    return { type: 'rule', rule: { tool, type: 'path', pattern: argument } }
  }
  if (tool === 'WebFetch') {
    const domain = /^domain:((?:\*\.)?[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])$/i.exec(argument)?.[1]
    if (domain === undefined) return wrong('expected WebFetch(domain:example.com)')
    return { type: 'rule', rule: { tool, type: 'domain', domain: domain.toLowerCase() } }
  }
  return { type: 'rule', rule: { tool, type: 'argument', value: argument } }
}

function commandRule(argument: string, wrong: (problem: string) => RuleRead): RuleRead {
  if (!argument.endsWith(':*')) return { type: 'rule', rule: { tool: 'Bash', type: 'command', script: argument } }
  const commands = simpleCommands(argument.slice(0, -2))
  const [words] = commands ?? []
  if (commands?.length !== 1 || words === undefined) return wrong('expected the first words of one command before ":*"')
  return { type: 'rule', rule: { tool: 'Bash', type: 'command-prefix', words } }
}

export function formatRule(rule: Rule): string {
  switch (rule.type) {
    case 'any':
      return rule.tool
    case 'command':
      return `Bash(${rule.script})`
    case 'command-prefix':
      return `Bash(${rule.words.map((word) => (/^[\w@%+:,./-]+$/.test(word) ? word : `'${word}'`)).join(' ')}:*)`
    case 'path':
      return `${rule.tool}(${rule.pattern})`
    case 'domain':
      return `${rule.tool}(domain:${rule.domain})`
    case 'argument':
      return `${rule.tool}(${rule.value})`
  }
}

export type RuleSet = { readonly allow: readonly Rule[]; readonly deny: readonly Rule[] }

/** Reads lists of settings. Every mistake is reported with its place. */
export function parseRules(lists: {
  readonly allow?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
}): { readonly rules: RuleSet; readonly problems: readonly string[] } {
  const problems: string[] = []
  const read = (name: 'allow' | 'deny') =>
    (lists[name] ?? []).flatMap((text, at) => {
      const found = parseRule(text)
      if (found.type === 'rule') return [found.rule]
      problems.push(`permissions.${name}[${at}] ${found.problem}`)
      return []
    })
  return { rules: { allow: read('allow'), deny: read('deny') }, problems }
}
