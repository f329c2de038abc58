// How to run git in a repository that nobody has looked at: whatever its settings say, no program of theirs runs, nothing connects,
// and no other repository is used. A folder that was copied, or that a command made, brings its own settings.

/** For every call of git that a person did not ask for: the options before the subcommand, and the environment. */
export type SafeGit = { readonly flags: readonly string[]; readonly env: NodeJS.ProcessEnv }

const settings = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'log.showSignature=false',
  // A folder with the files of a repository is none unless it has the name .git.
  'safe.bareRepository=explicit',
]

const own = {
  // Missing objects are not fetched.
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
}

/** Enough for subcommands that do not look into changed files. `git status` and `git diff` do: see `filtersOff`. */
export function safeGit(): SafeGit {
  // Variables of an outer git (in a hook) would select another repository.
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return { flags: flagsOf(settings), env: { ...Object.fromEntries(others), ...own } }
}

/** Its output is for `filtersOff`. */
export const listSettings = ['config', '--list', '--show-scope', '--name-only', '-z']

/**
 * More options, which turn off the programs that filter files by settings of this repository. Those of the person's own settings, such
 * as Git LFS, stay on. Undefined if one cannot be turned off.
 */
export function filtersOff(settingsListed: string): readonly string[] | undefined {
  // `scope NUL name NUL`, again and again.
  const parts = settingsListed.split('\0')
  const ofRepository = parts.filter((_, at) => at % 2 === 1 && /^(?:local|worktree)$/.test(parts[at - 1] ?? ''))
  const names = ofRepository.filter((name) => /^filter\.[\s\S]*\.(?:clean|smudge|process)$/i.test(name))
  // An option cannot set a name with this sign.
  if (names.some((name) => name.includes('='))) return undefined
  return flagsOf([...new Set(names)].flatMap((name) => [`${name}=`, `${name.replace(/[^.]*$/, 'required')}=false`]))
}

function flagsOf(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => ['-c', value])
}
