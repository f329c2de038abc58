// Other programs that git runs: aliases, configured commands, and commands in its arguments.
import { literal, mayBe, type StartedPrograms, textOf, type Word, type Words } from './words.ts'

/** Options before git's subcommand that take the next word as their value. */
const valueOptions = /^(?:-c|-C|--git-dir|--work-tree|--namespace|--super-prefix|--config-env|--attr-source)$/
/** Settings that never make git run anything. */
const harmlessSettings =
  /^(?:color|user|author|committer|advice|init|log|status|column|i18n|safe|gc|commit\.gpgsign)\b|^core\.(?:quotepath|autocrlf|eol|longpaths|abbrev|filemode|ignorecase)\b/i

/** Any other name is an alias or a separate program. */
const subcommands = new Set(
  `add am apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean clone
  commit config count-objects describe diff diff-tree difftool fetch filter-branch for-each-ref format-patch fsck gc grep
  hash-object help init log ls-files ls-remote ls-tree merge merge-base merge-file mergetool mv name-rev notes prune pull push
  range-diff read-tree rebase reflog remote repack rerere reset restore rev-list rev-parse revert rm send-pack shortlog show
  show-branch show-ref sparse-checkout stash status submodule switch symbolic-ref tag update-index update-ref var verify-commit
  version whatchanged worktree write-tree`
    .split(/\s+/)
    .filter(Boolean),
)

/** Options with which subcommands run a program. */
const startingOptions = new Map<string, RegExp>(
  Object.entries({
    rebase: /^-\w*x|^--exe/,
    grep: /^-\w*O|^--open/,
    clone: /^-\w*[uc]|^--(?:upl|conf|template)/,
    fetch: /^--upl/,
    pull: /^--upl/,
    push: /^--(?:rec|exe)/,
    'ls-remote': /^--(?:upl|exe)/,
    archive: /^--exe/,
    init: /^--template/,
  }),
)

/** Addresses that contain a command. */
const otherTransports = /^(?:ext|fd)::/

const alwaysRun = new Set(['filter-branch', 'difftool', 'mergetool'])

export function gitStarts(rest: Words): StartedPrograms {
  let at = 0
  let unseen: string | undefined
  while (textOf(rest[at])?.startsWith('-')) {
    const option = textOf(rest[at]) ?? ''
    const setting = option === '-c' ? textOf(rest[at + 1]) : /^-c(.+)$/.exec(option)?.[1]
    const isSetting = option.startsWith('-c') || option.startsWith('--config-env')
    if ((isSetting && !harmlessSettings.test(setting ?? '')) || option.startsWith('--exec-path='))
      unseen = `the setting ${setting ?? option} of git can run commands`
    at += valueOptions.test(option) ? 2 : 1
  }
  const command = rest.slice(at)
  const sub = textOf(command[0])
  unseen ??= sub === undefined ? undefined : unseenIn(sub, command.slice(1))
  const commands = at === 0 ? [] : [[literal('git'), ...command]]
  return { ...inArguments(sub, command.slice(1), commands), ...(unseen === undefined ? {} : { unseen }) }
}

function unseenIn(sub: string, rest: Words): string | undefined {
  if (!subcommands.has(sub)) return `git ${sub} may be an alias`
  if (sub === 'config') return configures(rest) ? 'a setting of git can run commands' : undefined
  const options = startingOptions.get(sub)
  const isStarting = options && rest.some((word) => mayBe(word, options) || mayBe(word, otherTransports))
  return isStarting || alwaysRun.has(sub) ? `git ${sub} can run commands of its own` : undefined
}

/** True if it sets something that can make git run a command. */
function configures(rest: Words): boolean {
  const isReading = rest.some((word) => /^(?:-l|--list|--get.*|list|get|--show.*)$/.test(textOf(word) ?? ''))
  if (isReading) return false
  const plain = rest.filter((word) => !/^-|^set$/.test(textOf(word) ?? ''))
  return plain.length !== 1 && !harmlessSettings.test(textOf(plain[0]) ?? '')
}

/** `git bisect run x` and `git submodule foreach x`. */
function inArguments(sub: string | undefined, rest: Words, commands: readonly Words[]): StartedPrograms {
  const after = (name: string): Words => {
    const at = rest.findIndex((word) => textOf(word) === name)
    return at < 0 ? [] : rest.slice(at + 1).filter((word) => !textOf(word)?.startsWith('--'))
  }
  if (sub === 'bisect') return { commands: [...commands, after('run')] }
  if (sub !== 'submodule') return { commands }
  const script: Words = after('foreach')
  const unknown: Word | undefined = script.find(({ type }) => type !== 'literal')
  const text = unknown ?? literal(script.map((word) => textOf(word) ?? '').join(' '))
  return { commands, scripts: script.length === 0 ? [] : [text] }
}
