// Rule files: instructions for agents that lie in the workspace and apply to the files below them. Those of the root come
// with the system prompt; those further down come only with the files.
import { pathKey } from './paths.ts'
import type { TouchedFile } from './touched.ts'

const names = ['AGENTS.md', 'CLAUDE.md', 'CLAUDE.local.md', 'GEMINI.md'] as const
const ruleName =
  /(^|[/\\])(AGENTS|CLAUDE|CLAUDE\.local|GEMINI)\.md$|(^|[/\\])\.(claude|cursor)[/\\]rules[/\\]|(^|[/\\])\.cursorrules$/i

export function isRuleFile(path: string): boolean {
  return ruleName.test(path)
}

/** With the system prompt of every agent that reads rule files. */
function isOfRoot(key: string): boolean {
  return ruleName.test(key) && !/[/\\]/.test(key)
}

/** Rule files that the session read: those of the root come anyway. */
export function rulesRead(touched: readonly TouchedFile[], root: string | undefined): readonly string[] {
  return touched.map(({ path }) => path).filter((path) => isRuleFile(path) && !isOfRoot(pathKey(path, root)))
}

const mostFiles = 8
const mostFolders = 12

/** Where rules for these files may lie: their folders and those above, below the root, nearest first. */
export function rulePlaces(touched: readonly TouchedFile[], root: string | undefined): readonly string[] {
  if (root === undefined) return []
  const folders = new Set<string>()
  for (const { path } of touched.slice(0, mostFiles)) {
    const parts = pathKey(path, root).split('/').slice(0, -1)
    // Outside the root nothing is looked for.
    if (parts[0] === '' || parts.includes('..')) continue
    for (let depth = parts.length; depth > 0; depth--) folders.add(parts.slice(0, depth).join('/'))
  }
  return [...folders].slice(0, mostFolders).flatMap((folder) => names.map((name) => `${folder}/${name}`))
}
