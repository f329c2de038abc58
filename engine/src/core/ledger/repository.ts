// Reading the state of a repository off the output of git. Only what an output shows is taken; nothing is inferred
// from a command that might have failed.
import type { Commit, RepositoryFact } from './facts.ts'
import { oneLine } from './text.ts'

const longestList = 12

export type RepositoryNews = {
  readonly branch?: string
  readonly lists?: Lists
  readonly commits: readonly Pick<Commit, 'hash' | 'title'>[]
  readonly pushed: boolean
}

export function readGit(command: string, output: string): RepositoryNews | undefined {
  if (!/\bgit\b/.test(command)) return undefined
  const text = output.slice(0, 40_000)
  const branch = branchOf(command, text)
  const lists = statusOf(command, text)
  const commits = commitsIn(text)
  const pushed = /\bgit\b.*\bpush\b/.test(command) && /->|up-to-date/.test(text) && !/\[rejected\]|^error:/m.test(text)
  if (!branch && !lists && commits.length === 0 && !pushed) return undefined
  return {
    ...(branch ? { branch } : {}),
    ...(lists ? { lists } : {}),
    commits,
    pushed,
  }
}

function branchOf(command: string, text: string): string | undefined {
  const found =
    /^On branch (\S+)/m.exec(text) ??
    /^## ((?:(?!\.\.\.)\S)+)/m.exec(text) ??
    /^Switched to (?:a new )?branch '([^']+)'/m.exec(text) ??
    /^\[(\S+?)(?: \(root-commit\))? [0-9a-f]{7,40}\] /m.exec(text) ??
    (/\bbranch --show-current\s*$/.test(command) ? /^(\S+)\s*$/.exec(text) : null)
  return found?.[1] && found[1] !== 'detached' ? oneLine(found[1], 100) : undefined
}

type Lists = Pick<RepositoryFact, 'staged' | 'unstaged' | 'untracked'>

function statusOf(command: string, text: string): Lists | undefined {
  if (!/\bgit\b[^|;&]*\bstatus\b/.test(command)) return undefined
  if (/nothing to commit, working tree clean/.test(text)) return { staged: [], unstaged: [], untracked: [] }
  const long = longStatus(text)
  if (long) return long
  const short = [...text.matchAll(/^([ MADRCU?!])([ MADRCU?!]) (\S.*)$/gm)]
  if (short.length === 0 && !/^## /m.test(text)) return undefined
  const where = (test: (x: string, y: string) => boolean) =>
    short.filter(([, x = '', y = '']) => test(x, y)).map(([, , , path = '']) => oneLine(path, 120))
  return {
    staged: where((x) => x !== ' ' && x !== '?' && x !== '!').slice(0, longestList),
    unstaged: where((_, y) => y !== ' ' && y !== '?' && y !== '!').slice(0, longestList),
    untracked: where((x) => x === '?').slice(0, longestList),
  }
}

function longStatus(text: string): Lists | undefined {
  if (!/^(?:Changes to be committed|Changes not staged for commit|Untracked files):/m.test(text)) return undefined
  const section = (heading: string) => {
    const [, body = ''] = new RegExp(`^${heading}:\\n((?:[ \\t].*\\n|\\n)*)`, 'm').exec(`${text}\n`) ?? []
    return [...body.matchAll(/^\t(?:(?:modified|new file|deleted|renamed|copied|typechange|both \w+):\s+)?(\S.*)$/gm)]
      .map(([, path = '']) => oneLine(path, 120))
      .slice(0, longestList)
  }
  return {
    staged: section('Changes to be committed'),
    unstaged: section('Changes not staged for commit'),
    untracked: section('Untracked files'),
  }
}

/** Only commits that this very output says were made. */
export function commitsIn(text: string): readonly Pick<Commit, 'hash' | 'title'>[] {
  return [...text.matchAll(/^\[\S+(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.+)$/gm)].map(([, hash = '', title = '']) => ({
    hash,
    title: oneLine(title, 160),
  }))
}
