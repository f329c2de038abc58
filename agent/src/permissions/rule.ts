// Permission rules as people write them: `Bash(npm test)`, `Bash(git log:*)`, `Bash(git push*)`, `Edit(src/**)`,
// `Read(//etc/**)`, `WebFetch(domain:example.com)`, `mcp__server__tool`, or a tool's name alone.

export type Rule = { readonly tool: string } & (
  | { readonly type: 'any' }
  | { readonly type: 'command'; readonly script: string }
  /** The command starts with these words. */
  | { readonly type: 'command-prefix'; readonly words: readonly string[] }
  /** The words of the command, joined by spaces. `*` stands for any text. */
  | { readonly type: 'command-pattern'; readonly pattern: string }
  | { readonly type: 'path'; readonly pattern: string }
  | { readonly type: 'domain'; readonly domain: string }
  | { readonly type: 'argument'; readonly value: string }
)

export type RuleRead =
  | { readonly type: 'rule'; readonly rule: Rule }
  | { readonly type: 'wrong'; readonly problem: string }

const pathTools: ReadonlySet<string> = new Set(['Read', 'Edit', 'Write', 'Grep', 'Glob'])

/** Every tool of the agent, and the network of commands in the sandbox. A rule for any other name would protect nothing, so it is an error. */
export const ruleTools: readonly string[] = [
  ...[
    'Bash',
    'Read',
    'Edit',
    'Write',
    'Grep',
    'Glob',
    'WebFetch',
    'Network',
    'Skill',
    'Task',
    'TaskOutput',
    'TaskStop',
    'TodoWrite',
  ],
  ...['EnterPlanMode', 'ExitPlanMode', 'AskUserQuestion', 'recall', 'compact', 'ToolSearch', 'McpCall'],
]

export function parseRule(text: string): RuleRead {
  const wrong = (problem: string): RuleRead => ({ type: 'wrong', problem: `${JSON.stringify(text)}: ${problem}` })
  const match = /^([A-Za-z_][\w-]*(?:\*)?)(?:\((.*)\))?$/s.exec(text.trim())
  if (!match) return wrong('expected a tool, or a tool with an argument in parentheses, such as Bash(npm test)')
  const [, tool = '', given] = match
  if (tool.endsWith('*') && !/^mcp__.+__\*$/.test(tool)) return wrong('only mcp__server__* may end with a star')
  const problem = toolProblem(tool)
  if (problem !== undefined) return wrong(problem)
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
  if (tool === 'WebFetch' || tool === 'Network') {
    const domain = /^domain:((?:\*\.)?[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])$/i.exec(argument)?.[1]
    if (domain === undefined) return wrong(`expected ${tool}(domain:example.com)`)
    return { type: 'rule', rule: { tool, type: 'domain', domain: domain.toLowerCase() } }
  }
  if (tool !== 'Skill') return wrong(`rules for ${tool} take no argument; write ${tool} alone to mean every use of it`)
  return { type: 'rule', rule: { tool, type: 'argument', value: argument } }
}

function toolProblem(tool: string): string | undefined {
  if (ruleTools.includes(tool)) return undefined
  if (tool.startsWith('mcp__')) {
    return /^mcp__(?!_*$)/.test(tool) ? undefined : 'expected mcp__SERVER or mcp__SERVER__TOOL'
  }
  const nearest = nearestTo(tool, ruleTools)
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `there is no tool ${tool}.${hint} Known: ${ruleTools.join(', ')}, mcp__SERVER, mcp__SERVER__TOOL`
}

/** The name with the fewest changed letters, at most half of them. Ignores case. */
function nearestTo(name: string, known: readonly string[]): string | undefined {
  const scored = known.map((each) => ({ each, changes: changesBetween(name.toLowerCase(), each.toLowerCase()) }))
  const [best] = scored.toSorted((a, b) => a.changes - b.changes)
  return best && best.changes <= best.each.length / 2 ? best.each : undefined
}

/** A rule may deny a server of another project, but a name similar to a server here is a typing error. */
export function misspelledServers(deny: readonly Rule[], servers: readonly string[]): readonly string[] {
  const named = deny.flatMap(({ tool }) => /^mcp__(.+?)(?:__|$)/.exec(tool)?.[1] ?? [])
  return [...new Set(named)].flatMap((name) => {
    const nearest = servers.includes(name) ? undefined : nearestTo(name, servers)
    if (nearest === undefined) return []
    return [
      `A rule denies the MCP server ${name}, which is not there. Did you mean ${nearest}? Nothing of ${nearest} is denied by it.`,
    ]
  })
}

function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** `git log:*` and `git log *` mean the same. Other stars match any text; `\*` is a literal star. */
function commandRule(argument: string, wrong: (problem: string) => RuleRead): RuleRead {
  const star = /(?<!\\)\*/
  const prefix = /^(.*)(?::| )\*$/s.exec(argument)?.[1]
  if (prefix !== undefined && !star.test(prefix)) {
    const words = ruleWords(prefix.replaceAll('\\*', '*'))
    if (words !== undefined) return { type: 'rule', rule: { tool: 'Bash', type: 'command-prefix', words } }
    if (argument.endsWith(':*')) return wrong('expected the first words of one command before ":*"')
  }
  if (star.test(argument)) {
    if (argument.length > 500) return wrong('the pattern is longer than 500 characters')
    return { type: 'rule', rule: { tool: 'Bash', type: 'command-pattern', pattern: argument } }
  }
  return { type: 'rule', rule: { tool: 'Bash', type: 'command', script: argument.replaceAll('\\*', '*') } }
}

/** The words of one plain command in a rule. Undefined if it contains anything else with a meaning for the shell. */
export function ruleWords(text: string): readonly string[] | undefined {
  const words: string[] = []
  let rest = text.trim()
  while (rest !== '') {
    const [word] = wordInRule.exec(rest) ?? []
    if (word === undefined) return undefined
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'))
    rest = rest.slice(word.length).replace(/^[ \t]+/, '')
  }
  const [first = ''] = words
  return first === '' || first.includes('=') ? undefined : words
}

const wordInRule = (() => {
  const quoted = String.raw`'[^']*'|"[^"$\`\\]*"`
  const special = String.raw`\s'"$\`\\<>|&;(){}*?[\]`
  return new RegExp(String.raw`^(?:${quoted}|[^${special}~!#])(?:${quoted}|[^${special}])*(?=[ \t]|$)`)
})()

export function formatRule(rule: Rule): string {
  switch (rule.type) {
    case 'any':
      return rule.tool
    case 'command':
      return `Bash(${rule.script.replaceAll('*', '\\*')})`
    case 'command-prefix':
      return `Bash(${rule.words.map(quoted).join(' ')}:*)`
    case 'command-pattern':
    case 'path':
      return `${rule.tool}(${rule.pattern})`
    case 'domain':
      return `${rule.tool}(domain:${rule.domain})`
    case 'argument':
      return `${rule.tool}(${rule.value})`
  }
}

function quoted(word: string): string {
  return /^[\w@%+:,./=-]+$/.test(word) ? word : `'${word}'`
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
