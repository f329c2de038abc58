// Changes one of the person's own settings files: adds rules that they have agreed to for good, or sets one value.
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isObject } from 'everlong/internal'

type Json = Readonly<Record<string, unknown>>

/** Throws an Error that says why if the file cannot be read or written; it is then as it was. */
export function keepRules(file: string, rules: readonly string[]): void {
  changeFile(file, (settings) => {
    const permissions = isObject(settings.permissions) ? settings.permissions : {}
    const allow = Array.isArray(permissions.allow) ? permissions.allow : []
    return { ...settings, permissions: { ...permissions, allow: [...new Set([...allow, ...rules])] } }
  })
}

/** The same for the value at a path such as `['permissions', 'mode']`. */
export function keepSetting(file: string, path: readonly string[], value: unknown): void {
  changeFile(file, (settings) => withValue(settings, path, value))
}

export function withValue(object: Json, [key = '', ...rest]: readonly string[], value: unknown): Json {
  if (rest.length === 0) return { ...object, [key]: value }
  const inside = object[key]
  return { ...object, [key]: withValue(isObject(inside) ? inside : {}, rest, value) }
}

function changeFile(file: string, change: (settings: Json) => Json): void {
  // The file that a link leads to is changed, not the link.
  const path = existsSync(file) ? realpathSync(file) : file
  const changed = change(existsSync(path) ? settingsIn(path) : {})
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  const mode = existsSync(path) ? statSync(path).mode & 0o777 : 0o600
  writeFileSync(draft, `${JSON.stringify(changed, undefined, 2)}\n`, { mode })
  renameSync(draft, path)
}

function settingsIn(path: string): Json {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (!isObject(value)) throw new Error('it is not a JSON object')
  return value
}
