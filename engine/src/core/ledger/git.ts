// The state of a repository, read from the output of git. Nothing is inferred from a command that might have failed.

import { oneLine } from '../text/neutralize.ts'
import type { Command } from '../tools/shell.ts'
import { gitWords, mayChangeAnything, onlyReads } from '../tools/shell-effects.ts'
import type { Commit, RepositoryFact } from './facts.ts'
import type { State } from './state.ts'

/**
 * Reads the state of the repository from the output of a script that succeeded: `git push` with "0a0a0a0..1a2b3c4  main ->
 * main" → pushed.
 */
export function noteGit(state: State, commands: readonly Command[], output: string): void {
  const verbs = commands.map(({ words: [program, ...rest] }) => (program === 'git' ? gitWords(rest)[0] : undefined))
  if (verbs.every((verb) => verb === undefined)) return
  const { repository, messages: now } = state
  const text = output.slice(0, 40_000)
  if (commands.some((command, at) => verbs[at] !== undefined && !onlyReads(command))) repository.gitLast = now
  const branch = branchOf(commands, text)
  if (branch !== undefined) repository.branch = branch
  const lists = verbs.includes('status') ? statusIn(text) : undefined
  const commits = commitsIn(text)
  if (lists) {
    Object.assign(repository, lists, { statusLast: now })
    // The lists include changes that the script made before `git status`, but no later ones.
    const isLast = !mayChangeAnything(commands.slice(verbs.lastIndexOf('status') + 1))
    if (isLast) repository.touchedLast = Math.min(repository.touchedLast, now - 1)
  } else if (commits.length > 0) repository.touchedLast = now
  const isPush = verbs.includes('push') && /->|up-to-date/.test(text) && !/\[rejected\]|^error:/m.test(text)
  if (isPush) repository.pushedLast = now
  // `git commit --amend` with "[main 2b3c4d5] Open" → 2b3c4d5 instead of the latest. An amended commit replaces the one before it.
  const isAmend = commands.some(({ words }, at) => verbs[at] === 'commit' && words.includes('--amend'))
  if (commits.length > 0 && isAmend) state.commits.delete([...state.commits.keys()].at(-1) ?? '')
  for (const commit of commits) state.commits.set(commit.hash, { ...commit, last: now })
}

/**
 * Returns "main" for any of "On branch main", "## main...origin/main", "Switched to a new branch 'main'", "[main 1a2b3c4] Open
 * the gate", and for "main" as the output of `git branch --show-current`.
 */
function branchOf(commands: readonly Command[], text: string): string | undefined {
  const isAsked = commands.at(-1)?.bare.endsWith('branch --show-current') === true
  const found =
    /^On branch (\S+)/m.exec(text) ??
    /^## ((?:(?!\.\.\.)\S)+)/m.exec(text) ??
    /^Switched to (?:a new )?branch '([^']+)'/m.exec(text) ??
    /^\[(\S+?)(?: \(root-commit\))? [0-9a-f]{7,40}\] /m.exec(text) ??
    (isAsked ? /^(\S+)\s*$/.exec(text) : null)
  return found?.[1] && found[1] !== 'detached' ? oneLine(found[1], 100) : undefined
}

/** Of 13 paths, the first 12 are kept. */
const maxList = 12

type Lists = Pick<RepositoryFact, 'staged' | 'unstaged' | 'untracked'>

/** " M a.ts\nA  b.ts\n?? c.ts" → not staged: a.ts; staged: b.ts; untracked: c.ts. */
function statusIn(text: string): Lists | undefined {
  if (/nothing to commit, working tree clean/.test(text)) return { staged: [], unstaged: [], untracked: [] }
  if (/^(?:Changes to be committed|Changes not staged for commit|Untracked files):/m.test(text)) return longStatus(text)
  const short = [...text.matchAll(/^([ MADRCU?!])([ MADRCU?!]) (\S.*)$/gm)]
  if (short.length === 0 && !/^## /m.test(text)) return undefined
  const where = (test: (x: string, y: string) => boolean) =>
    short
      .filter(([, x = '', y = '']) => test(x, y))
      .slice(0, maxList)
      .map(([, , , path = '']) => oneLine(path, 120))
  return {
    staged: where((x) => !' ?!'.includes(x)),
    unstaged: where((_, y) => !' ?!'.includes(y)),
    untracked: where((x) => x === '?'),
  }
}

/** "Changes to be committed:\n\tmodified:   a.ts\n" → staged: a.ts. */
function longStatus(text: string): Lists {
  const section = (heading: string) => {
    const [, body = ''] = new RegExp(`^${heading}:\\n((?:[ \\t].*\\n|\\n)*)`, 'm').exec(`${text}\n`) ?? []
    const entry = /^\t(?:(?:modified|new file|deleted|renamed|copied|typechange|both \w+):\s+)?(\S.*)$/gm
    return [...body.matchAll(entry)].slice(0, maxList).map(([, path = '']) => oneLine(path, 120))
  }
  return {
    staged: section('Changes to be committed'),
    unstaged: section('Changes not staged for commit'),
    untracked: section('Untracked files'),
  }
}

/**
 * Returns only the commits that this output reports as made: "[main 1a2b3c4] Open the gate" → 1a2b3c4, "Open the gate";
 * "1a2b3c4 Open" → none.
 */
export function commitsIn(text: string): readonly Pick<Commit, 'hash' | 'title'>[] {
  return [...text.matchAll(/^\[\S+(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.+)$/gm)].map(([, hash = '', title = '']) => ({
    hash,
    title: oneLine(title, 160),
  }))
}
