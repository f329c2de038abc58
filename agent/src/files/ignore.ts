// Decides which files a search skips: those listed in .gitignore and .ignore files, folders of version control, and node_modules.
import { join, relative } from 'node:path'
import { ignoreGlob } from './glob.ts'
import { readRegularFile } from './regular-file.ts'

type Line = { readonly isNegated: boolean; readonly isFolder: boolean; readonly matches: (path: string) => boolean }

/** The rules of one folder and its parents, nearest last. */
export type IgnoreRules = readonly { readonly folder: string; readonly lines: readonly Line[] }[]

const ignoreFiles = ['.gitignore', '.ignore']
const maxBytes = 1024 * 1024
const never = new Set(['.git', '.hg', '.svn', '.jj', 'node_modules'])

export function withFolder(rules: IgnoreRules, folder: string): IgnoreRules {
  const lines = ignoreFiles.flatMap((name) => parseIgnore(textAt(join(folder, name))))
  return lines.length === 0 ? rules : [...rules, { folder, lines }]
}

export type Named = { readonly path: string; readonly name: string; readonly isFolder: boolean }

/** The last matching line decides, and the nearest file takes precedence. */
export function isIgnored(rules: IgnoreRules, { path, name, isFolder }: Named): boolean {
  if (never.has(name)) return true
  for (const { folder, lines } of rules.toReversed()) {
    const own = relative(folder, path)
    const line = lines.findLast((each) => (isFolder || !each.isFolder) && each.matches(own))
    if (line) return !line.isNegated
  }
  return false
}

export function parseIgnore(text: string): readonly Line[] {
  return text.split(/\r?\n/).flatMap((given) => {
    const line = given.replace(/(?<!\\)[ \t]+$/, '')
    if (line === '' || line.startsWith('#')) return []
    const isNegated = line.startsWith('!')
    const pattern = isNegated ? line.slice(1) : line
    if (pattern.length > 500 || pattern === '/') return []
    return [{ isNegated, isFolder: pattern.endsWith('/'), matches: ignoreGlob(pattern).own }]
  })
}

/** Rule files that cannot be read count as empty. */
function textAt(path: string): string {
  const read = readRegularFile(path, maxBytes)
  return read.type === 'text' ? read.text : ''
}
