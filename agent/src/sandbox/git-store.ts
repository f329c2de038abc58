// A file that a rule denies may also be in the repository's store, where every program can read it. In that case the store is
// closed for commands that do not use git, and commands that do ask, unless they print no contents.
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { safeGit } from 'everlong/internal/node'
import { programOf } from '../permissions/programs.ts'
import type { RuleSet } from '../permissions/rule.ts'
import type { Script } from '../permissions/script.ts'

export type GitStore = {
  /** Whether the store has, or had, a file that deny rules cover. */
  readonly hasDenied: (rules: RuleSet, stores: readonly string[]) => Promise<boolean>
}

const patienceMs = 5_000

/** `root` is the workspace's folder. Rules are relative to it. */
export function createGitStore(root: string): GitStore {
  let known: { readonly key: string; readonly has: boolean } | undefined
  return {
    hasDenied: async ({ deny }, stores) => {
      const patterns = deny.flatMap((rule) =>
        rule.type === 'path' && /^(?:Read|Grep|Glob)$/.test(rule.tool) ? [rule.pattern] : [],
      )
      if (patterns.length === 0 || stores.length === 0) return false
      const key = JSON.stringify([patterns, stores, stores.map(changedAt)])
      if (known?.key === key) return known.has
      // The store of a worktree or a submodule is elsewhere.
      const folders = new Set(stores.map((store) => (basename(store) === '.git' ? dirname(store) : root)))
      const found = await Promise.all([...folders].map((folder) => isInHistory(patterns, root, folder)))
      known = { key, has: found.includes(true) }
      return known.has
    },
  }
}

async function isInHistory(patterns: readonly string[], root: string, folder: string): Promise<boolean> {
  const specs = new Set(patterns.map((pattern) => pathSpec(pattern, root, folder)))
  // One by one, because git refuses all of them if one is outside the repository.
  const asked = [...specs].flatMap((spec) => {
    const paths = [`:(glob)${spec}`, `:(glob)${spec}/**`]
    return [
      ['ls-files', '--', ...paths],
      ['log', '--all', '-1', '--format=%H', '--', ...paths],
    ]
  })
  return (await Promise.all(asked.map((words) => printsSomething(folder, words)))).includes(true)
}

/** Every change of the index, of a branch or of a fetched branch writes one of these. */
function changedAt(store: string): readonly number[] {
  return ['index', 'HEAD', 'logs/HEAD', 'packed-refs', 'FETCH_HEAD'].map(
    (name) => statSync(`${store}/${name}`, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
}

/** A path specification for a rule's pattern, from a folder of the repository. It may cover too much, never too little. */
function pathSpec(pattern: string, root: string, folder: string): string {
  const path = pattern.replace(/\/+$/, '')
  if (!path.includes('/')) return `**/${path}`
  const isWhole = path.startsWith('//') || path.startsWith('~/')
  const place = path.startsWith('~/') ? homedir() + path.slice(1) : path.startsWith('//') ? path.slice(1) : ''
  const whole = isWhole ? place : join(root, path.replace(/^\.?\//, ''))
  const from = relative(folder, whole)
  // If the rule covers the folder or a parent, it covers everything. A pattern that leaves the folder may return to it.
  if (from === '' || /^[./]+(?:\/\*\*)?$/.test(from)) return '**'
  return from.startsWith('../') && /[*?[{]/.test(from) ? `**/${basename(from)}` : from
}

/** A search that fails or times out may have missed something, unless it was about a place outside. */
function printsSomething(folder: string, words: readonly string[]): Promise<boolean> {
  // A command may have made the repository.
  const { flags, env } = safeGit()
  return new Promise((resolve) => {
    execFile('git', [...flags, ...words], { cwd: folder, timeout: patienceMs, env }, (error, output, problem) => {
      const hasFailed = error?.killed === true || (typeof error?.code === 'number' && !isOutside.test(problem))
      resolve(output.trim() !== '' || hasFailed)
    })
  })
}

const isOutside = /is outside repository/

export function runsGit({ commands }: Script): boolean {
  return commands.some(([program]) => /^git(?:k|-.*)?$/.test(programOf(program) ?? ''))
}

/** Subcommands that print names, states and messages, but no file contents, and copy no part of the store. */
const withoutContents = new Set(
  `status add commit branch checkout switch tag remote rev-parse ls-files ls-tree merge rebase reset restore stash log
  rev-list describe shortlog merge-base show-ref symbolic-ref`.split(/\s+/),
)
/** Options of commands that show history, and of all others. */
const showingInHistory =
  /^-\w*[pucmLSGU]|^--(?:patch|cc|dd|check|word-diff|color-words|unified|binary|remerge-diff|full-diff|textconv|ext-diff)/
const showing = /^-\w*[pi]|^--(?:patch|interactive|exec|textconv|ext-diff|show-current-patch)/
const verbose = /^-\w*v|^--verb/

/** True if the script consists only of git, `cd` and `echo` and prints no file contents. */
export function printsNoContents({ plain }: Script): boolean {
  return (
    plain?.every(([program, sub = '', ...rest]) => {
      if (program === 'cd' || program === 'echo') return true
      if (program !== 'git' || !withoutContents.has(sub)) return false
      const has = (pattern: RegExp) => rest.some((word) => pattern.test(word))
      if (sub === 'stash')
        return !rest.includes('show') && !has(showing) && !(rest.includes('list') && has(showingInHistory))
      if (sub === 'commit' || sub === 'status') return !has(verbose) && !has(/^-\w*p|^--(?:patch|interactive)/)
      return !has(/^(?:log|rev-list)$/.test(sub) ? showingInHistory : showing)
    }) ?? false
  )
}
