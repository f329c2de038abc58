// How rules and names protect the files of the workspace from commands in the sandbox.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { coversPath } from '../permissions/path-rules.ts'
import { isProtectedName } from '../permissions/protected.ts'
import type { Rule, RuleSet } from '../permissions/rule.ts'
import { isSecretFile } from '../permissions/secrets.ts'
import type { Guard } from './guarded-files.ts'

const hidingTools = /^(?:Read|Grep|Glob)$/
const fixingTools = /^(?:Edit|Write)$/

/** A file that no rule mentions. A rule that covers it covers everything in its folder. */
const anyName = 'a-file-of-any-name'

export function guardFor({ allow, deny }: RuleSet, root: string): Guard {
  const covers = (rules: readonly Rule[]) => (path: string) =>
    rules.some((rule) => coversPath(rule, path, root) || coversPath(rule, join(path, anyName), root))
  const hiding = deny.filter(({ type, tool }) => type === 'path' && hidingTools.test(tool))
  const fixing = deny.filter(({ type, tool }) => type === 'path' && fixingTools.test(tool))
  const opening = allow.filter(({ type, tool }) => type === 'path' && tool === 'Read')
  const isHidden = covers(hiding)
  const isFixed = covers(fixing)
  return {
    hides: (path) => isHidden(path) || (isSecretFile(path) && !opening.some((rule) => coversPath(rule, path, root))),
    fixes: (path) => isFixed(path) || (isProtectedName(basename(path)) && !/^\.(?:git|bin)$/.test(basename(path))),
    looksIn: (path) =>
      basename(path) !== '.git' && (basename(path) !== 'node_modules' || hiding.length + fixing.length > 0),
  }
}

/** Folders and files outside the workspace that rules open or close: `Read(//data/**)`, `Edit(~/notes)`. */
export function placesIn({ allow, deny }: RuleSet) {
  const of = (rules: readonly Rule[], tools: RegExp) =>
    rules.flatMap((rule) => (rule.type === 'path' && tools.test(rule.tool) ? placeOf(rule.pattern) : []))
  return {
    readable: of(allow, /^(?:Read|Edit|Write)$/).filter(isPlain),
    writable: of(allow, fixingTools).filter(isPlain),
    secret: of(deny, hidingTools),
    fixed: of(deny, fixingTools).filter(isPlain),
  }
}

function placeOf(pattern: string): readonly string[] {
  const path = pattern.startsWith('//')
    ? pattern.slice(1)
    : pattern.startsWith('~/')
      ? homedir() + pattern.slice(1)
      : ''
  return path === '' ? [] : [path.replace(/\/\*\*$/, '').replace(/\\(.)/g, '$1')]
}

/** The system opens and closes single paths, not patterns. */
function isPlain(path: string): boolean {
  return !/[*?[\]{}]/.test(path) && existsSync(path)
}
