// Reading the state of a repository off the output of git. Only what an output shows is taken; nothing is inferred
// from a command that might have failed.
import type { Command } from '../tools/shell.ts'
import { gitWords } from '../tools/shell-effects.ts'
import type { Commit, RepositoryFact } from './facts.ts'
import { oneLine } from './text.ts'

const longestList = 12

export type RepositoryNews = {
  readonly branch?: string
  readonly lists?: Lists
  readonly commits: readonly Pick<Commit, 'hash' | 'title'>[]
  readonly pushed: boolean
}

export function isStatus(command: Command): boolean {
  return verbOf(command) === 'status'
}

export function isAmend(command: Command): boolean {
  return verbOf(command) === 'commit' && command.words.includes('--amend')
}

function verbOf({ words: [program, ...rest] }: Command): string | undefined {
  return program === 'git' ? gitWords(rest)[0] : undefined
}

export function readGit(commands: readonly Command[], output: string): RepositoryNews | undefined {
  const verbs = commands.map(verbOf).filter((verb) => verb !== undefined)
  if (verbs.length === 0) return undefined
  const text = output.slice(0, 40_000)
  const branch = branchOf(commands, text)
  const lists = verbs.includes('status') ? statusIn(text) : undefined
  const commits = commitsIn(text)
  const pushed = verbs.includes('push') && /->|up-to-date/.test(text) && !/\[rejected\]|^error:/m.test(text)
  if (!branch && !lists && commits.length === 0 && !pushed) return undefined
  return { ...(branch ? { branch } : {}), ...(lists ? { lists } : {}), commits, pushed }
}

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

type Lists = Pick<RepositoryFact, 'staged' | 'unstaged' | 'untracked'>

function statusIn(text: string): Lists | undefined {
  if (/nothing to commit, working tree clean/.test(text)) return { staged: [], unstaged: [], untracked: [] }
  if (/^(?:Changes to be committed|Changes not staged for commit|Untracked files):/m.test(text)) return longStatus(text)
  const short = [...text.matchAll(/^([ MADRCU?!])([ MADRCU?!]) (\S.*)$/gm)]
  if (short.length === 0 && !/^## /m.test(text)) return undefined
  const where = (test: (x: string, y: string) => boolean) =>
    listed(short.filter(([, x = '', y = '']) => test(x, y)).map(([, , , path = '']) => path))
  return {
    staged: where((x) => !' ?!'.includes(x)),
    unstaged: where((_, y) => !' ?!'.includes(y)),
    untracked: where((x) => x === '?'),
  }
}

function longStatus(text: string): Lists {
  const section = (heading: string) => {
    const [, body = ''] = new RegExp(`^${heading}:\\n((?:[ \\t].*\\n|\\n)*)`, 'm').exec(`${text}\n`) ?? []
    const entry = /^\t(?:(?:modified|new file|deleted|renamed|copied|typechange|both \w+):\s+)?(\S.*)$/gm
    return listed([...body.matchAll(entry)].map(([, path = '']) => path))
  }
  return {
    staged: section('Changes to be committed'),
    unstaged: section('Changes not staged for commit'),
    untracked: section('Untracked files'),
  }
}

function listed(paths: readonly string[]): readonly string[] {
  return paths.slice(0, longestList).map((path) => oneLine(path, 120))
}

/** Only commits that this very output says were made: `[main 1a2b3c4] Open the gate`. */
export function commitsIn(text: string): readonly Pick<Commit, 'hash' | 'title'>[] {
  return [...text.matchAll(/^\[\S+(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.+)$/gm)].map(([, hash = '', title = '']) => ({
    hash,
    title: oneLine(title, 160),
  }))
}
