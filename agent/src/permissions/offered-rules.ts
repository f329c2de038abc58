// The rules that the answer "always" adds for a script: one for each of its commands that nothing allows yet, as wide as a
// person would mean it. `npm test -- a` becomes `Bash(npm test:*)`.
import { programOf, startedBy } from './programs.ts'
import type { Rule } from './rule.ts'
import type { Script } from './script.ts'
import { literal } from './words.ts'

/** Nobody reads more rules before agreeing. */
const maxRules = 3

export function rulesForScript(script: Script, isAllowed: (words: readonly string[]) => boolean): readonly Rule[] {
  const exact = [exactly(script)]
  const rules = (script.plain ?? []).filter((words) => !isAllowed(words)).map(ruleForCommand)
  if (rules.length === 0 || rules.includes(undefined)) return exact
  const different = new Map(rules.flatMap((rule) => (rule ? [[JSON.stringify(rule), rule] as const] : [])))
  return different.size > maxRules ? exact : [...different.values()]
}

export function exactly({ text }: Script): Rule {
  return { tool: 'Bash', type: 'command', script: text.trim() }
}

/** Undefined if only the command as a whole can be allowed. */
function ruleForCommand(words: readonly string[]): Rule | undefined {
  const start = startOf(words)
  return start && { tool: 'Bash', type: 'command-prefix', words: start }
}

/** The words for the action of a command, without its objects. */
function startOf(words: readonly string[]): readonly string[] | undefined {
  const [program = '', sub, name] = words
  const isWord = (word: string | undefined) => word !== undefined && /^[\w@][\w@./:+-]*$/.test(word)
  if (/^python[\d.]*$/.test(program) && sub === '-m' && isWord(name)) return words.slice(0, 3)
  const runner = runners.get(program)
  if (runner) {
    if (openEnded.get(program)?.test(sub ?? '')) return undefined
    // `npm run build`, `npx vitest`, `docker compose up`.
    const length = runner.test(sub ?? '') ? 3 : 2
    return words.slice(1, length).every(isWord) && words.length >= length ? words.slice(0, length) : undefined
  }
  const { commands = [], scripts = [], unseen } = startedBy(words.map(literal), undefined)
  const startsOthers = commands.length > 0 || scripts.length > 0 || unseen !== undefined
  return startsOthers || dangerous.has(programOf(literal(program)) ?? '') ? undefined : [program]
}

/** Programs whose next word names their action, and the words after which one more does. */
const runners: ReadonlyMap<string, RegExp> = new Map([
  ...'npm pnpm yarn bun deno'.split(' ').map((name) => [name, /^run(?:-script)?$|^exec$|^task$/] as const),
  ...'cargo go dotnet gradle ./gradlew mvn ./mvnw pip pip3 brew helm rails bundle composer'
    .split(' ')
    .map((name) => [name, /^(?:exec|run)$/] as const),
  ...'npx bunx uvx make just task terraform git'.split(' ').map((name) => [name, /^(?!)/] as const),
  ['uv', /^(?:run|pip)$/],
  ['poetry', /^run$/],
  ['docker', /^(?:compose|container|image|volume|network)$/],
  ['gh', /./],
  ['aws', /./],
  ['gcloud', /./],
  ['kubectl', /^(?:rollout|config)$/],
])

/** Subcommands whose arguments name programs to run now or later: `git config core.sshCommand …`, `docker run -v /:/host …`. */
const openEnded: ReadonlyMap<string, RegExp> = new Map([
  ['git', /^(?:config|bisect|rebase|submodule|filter-branch|for-each-repo|difftool|mergetool|hook|daemon)$/],
  ...'npm pnpm yarn bun'.split(' ').map((name) => [name, /^(?:config|c|set|explore|x|dlx)$/] as const),
  ...'pip pip3 poetry composer bundle helm'.split(' ').map((name) => [name, /^(?:config|plugin)$/] as const),
  ['docker', /^(?:run|exec|create)$/],
  ['kubectl', /^(?:run|exec|debug|cp|config)$/],
  ['gh', /^(?:alias|extension|config)$/],
  ['aws', /^configure$/],
  ['gcloud', /^config$/],
])

/** Their effect depends so much on their arguments that a rule for all of them would allow everything. */
const dangerous = new Set(
  `rm rmdir mv cp ln dd tee install truncate shred chmod chown chgrp kill pkill killall reboot shutdown mkfs mount umount curl wget
  nc ssh scp rsync find sed awk tar zip unzip patch systemctl service crontab eval exec source`
    .split(/\s+/)
    .filter(Boolean),
)
