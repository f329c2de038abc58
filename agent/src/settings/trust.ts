// Which folders a person trusts: only their settings may run commands, start servers or widen permissions.
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject } from 'everlong/internal'

type Place = { readonly home: string; readonly folder: string }

function trustFile(home: string): string {
  return join(home, 'trusted.json')
}

function trustedFolders(home: string): readonly string[] {
  const path = trustFile(home)
  if (!existsSync(path)) return []
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const folders = isObject(value) ? value.folders : undefined
    return Array.isArray(folders) ? folders.filter((each) => typeof each === 'string') : []
  } catch {
    // A list that cannot be read trusts nobody; the person is asked again.
    return []
  }
}

/** A trusted folder covers the folders below it. */
export function isTrusted({ home, folder }: Place): boolean {
  const trusted = new Set(trustedFolders(home))
  for (let path = realpathSync(folder); ; path = dirname(path)) {
    if (trusted.has(path)) return true
    if (path === dirname(path)) return false
  }
}

export function trustFolder({ home, folder }: Place): void {
  const folders = [...new Set([...trustedFolders(home), realpathSync(folder)])]
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const draft = `${trustFile(home)}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify({ folders }, undefined, 2)}\n`, { mode: 0o600 })
  renameSync(draft, trustFile(home))
}
