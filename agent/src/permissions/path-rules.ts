// Which files a rule covers: by their paths, and under other names.
import { homedir } from 'node:os'
import { relative } from 'node:path'
import { escapeGlob, ignoreGlob } from '../files/glob.ts'
import { isWithin, slashed } from '../files/paths.ts'
import { no } from './coverage.ts'
import { type IsOtherName, listingOnce, otherNamesOf } from './hard-links.ts'
import type { Where } from './named-paths.ts'
import type { Rule } from './rule.ts'

export function coversPath(rule: Rule, path: string, root: string): boolean {
  return pathTest(rule, root)(path)
}

/** `//x` is absolute, `~/x` in the home folder, everything else below the workspace. */
function pathTest(rule: Rule, root: string): (path: string) => boolean {
  if (rule.type === 'any') return () => true
  if (rule.type !== 'path') return () => false
  const { pattern } = rule
  if (pattern.startsWith('//') || pattern.startsWith('~/')) {
    const absolute = pattern.startsWith('//') ? pattern.slice(1) : escapeGlob(homedir()) + pattern.slice(1)
    const { below } = ignoreGlob(absolute)
    return (path) => below(slashed(path).slice(1))
  }
  const { below } = ignoreGlob(pattern.replace(/^\.\//, '/'))
  return (path) => isWithin(root, path) && below(slashed(relative(root, path)))
}

/** Whether a rule allows reading this path. */
export function isOpened(allow: readonly Rule[], path: string, root: string): boolean {
  return allow.some((rule) => rule.tool === 'Read' && coversPath(rule, path, root))
}

/** For rules about paths: whether a file is a denied one under another name. */
export function otherNames(rule: Rule, { root, disk }: Where): IsOtherName {
  if (rule.type !== 'path') return () => no
  return otherNamesOf({ pattern: rule.pattern, covers: pathTest(rule, root) }, root, disk)
}

function hidesFiles({ tool, type }: Rule): boolean {
  return tool === 'Read' || (type === 'path' && /^(?:Grep|Glob)$/.test(tool))
}

/** For searches and instruction files: whether a rule denies reading or finding this path. */
export function hiddenBy(deny: readonly Rule[], { root, disk }: Where): (path: string) => boolean {
  const where = { root, disk: listingOnce(disk) }
  const rules = deny.filter(hidesFiles).map((rule) => ({
    covers: pathTest(rule, root),
    isOtherName: otherNames(rule, where),
  }))
  return (path) => rules.some(({ covers, isOtherName }) => covers(path) || isOtherName(path).type !== 'no')
}
