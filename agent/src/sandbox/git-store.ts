// A file that a rule denies may also be in the repository's store, where every program can read it. Then the store is closed for
// commands that do not use git, and commands that do ask, unless they print no contents.
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { programOf } from '../permissions/programs.ts'
import type { RuleSet } from '../permissions/rule.ts'
import type { Script } from '../permissions/script.ts'

export type GitStore = {
  /** Whether the store has, or had, a file that rules deny reading. */
  readonly hasDenied: (rules: RuleSet, stores: readonly string[]) => Promise<boolean>
}

const patienceMs = 5_000

export function createGitStore(root: string): GitStore {
  let known: { readonly key: string; readonly has: boolean } | undefined
  return {
    hasDenied: async ({ deny }, stores) => {
      const specs = deny.flatMap((rule) =>
        rule.type === 'path' && /^(?:Read|Grep|Glob)$/.test(rule.tool) ? pathSpecs(rule.pattern) : [],
      )
      if (specs.length === 0 || stores.length === 0) return false
      const key = JSON.stringify([specs, stores.map(changedAt)])
      if (known?.key === key) return known.has
      const asked = [
        ['ls-files', '--', ...specs],
        ['log', '--all', '-1', '--format=%H', '--', ...specs],
      ]
      const printed = await Promise.all(asked.map((words) => printsSomething(root, words)))
      known = { key, has: printed.includes(true) }
      return known.has
    },
  }
}

/** Every change of the index, of a branch or of a fetched one writes one of these. */
function changedAt(store: string): readonly number[] {
  return ['index', 'HEAD', 'logs/HEAD', 'packed-refs', 'FETCH_HEAD'].map(
    (name) => statSync(`${store}/${name}`, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
}

function pathSpecs(pattern: string): readonly string[] {
  if (pattern.startsWith('//') || pattern.startsWith('~/')) return []
  const path = pattern.replace(/^\.?\//, '').replace(/\/+$/, '')
  const start = pattern.includes('/') ? '' : '**/'
  return [`:(glob)${start}${path}`, `:(glob)${start}${path}/**`]
}

/** A search that does not end in time may have found something. */
function printsSomething(root: string, words: readonly string[]): Promise<boolean> {
  const settings = ['-c', 'core.fsmonitor=false', '-c', 'log.showSignature=false']
  return new Promise((resolve) => {
    execFile('git', [...settings, ...words], { cwd: root, timeout: patienceMs }, (error, output) => {
      resolve(output.trim() !== '' || error?.killed === true)
    })
  })
}

export function runsGit({ commands }: Script): boolean {
  return commands.some(([program]) => /^git(?:k|-.*)?$/.test(programOf(program) ?? ''))
}

/** Subcommands that print names, states and messages, but no text of a file. */
const withoutContents = new Set(
  `status add commit branch checkout switch tag remote rev-parse ls-files ls-tree merge rebase reset restore stash log init
  rev-list describe shortlog merge-base show-ref symbolic-ref worktree fetch pull push`.split(/\s+/),
)
/** Options of commands that show history, and of all others. */
const showingInHistory =
  /^-\w*[pucmLSGU]|^--(?:patch|cc|word-diff|color-words|unified|binary|remerge-diff|full-diff|textconv|ext-diff)/
const showing = /^-\w*[pi]|^--(?:patch|interactive|exec|textconv|ext-diff)/

/** Whether the script is nothing but commands of git, `cd` and `echo`, and prints no text of a file. */
export function printsNoContents({ plain }: Script): boolean {
  return (
    plain?.every(([program, sub = '', ...rest]) => {
      if (program === 'cd' || program === 'echo') return true
      if (program !== 'git' || !withoutContents.has(sub)) return false
      if (sub === 'stash') return !rest.some((word) => word === 'show' || showing.test(word))
      if (sub === 'commit') return !rest.some((word) => /^-\w*[pv]|^--(?:patch|interactive|verb)/.test(word))
      return !rest.some((word) => (/^(?:log|rev-list)$/.test(sub) ? showingInHistory : showing).test(word))
    }) ?? false
  )
}
