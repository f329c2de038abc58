// Adds rules that a person has agreed to for good to one of their own settings files.
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isObject } from 'everlong/internal'

/** Throws an Error with the reason if the file cannot be read or written. The file is then unchanged. */
export function keepRules(file: string, rules: readonly string[]): void {
  // Changes the target of a link, not the link.
  const path = existsSync(file) ? realpathSync(file) : file
  const settings = existsSync(path) ? settingsIn(path) : {}
  const permissions = isObject(settings.permissions) ? settings.permissions : {}
  const allow = Array.isArray(permissions.allow) ? permissions.allow : []
  const added = { ...settings, permissions: { ...permissions, allow: [...new Set([...allow, ...rules])] } }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  const mode = existsSync(path) ? statSync(path).mode & 0o777 : 0o600
  writeFileSync(draft, `${JSON.stringify(added, undefined, 2)}\n`, { mode })
  renameSync(draft, path)
}

function settingsIn(path: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (!isObject(value)) throw new Error('it is not a JSON object')
  return value
}
