// Settings of a folder that a person trusts, because they run commands, start servers or widen permissions. Trust covers their
// content at that time; additions and changes need another agreement.
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject } from 'everlong/internal'

type Place = { readonly home: string; readonly folder: string }
/** Digests of settings, by folder. */
type Trusted = Readonly<Record<string, readonly string[]>>

function trustFile(home: string): string {
  return join(home, 'trusted.json')
}

function readTrusted(home: string): Trusted {
  const path = trustFile(home)
  if (!existsSync(path)) return {}
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const folders = isObject(value) && isObject(value.folders) ? value.folders : {}
    return Object.fromEntries(
      Object.entries(folders).map(([folder, digests]) => [
        folder,
        Array.isArray(digests) ? digests.filter((each) => typeof each === 'string') : [],
      ]),
    )
  } catch {
    // An unreadable list trusts nothing, so the person is asked again.
    return {}
  }
}

/** The trusted digests of a folder and its parents. Undefined if none of these is trusted. */
export function trustedIn({ home, folder }: Place): ReadonlySet<string> | undefined {
  const trusted = readTrusted(home)
  const found: (readonly string[])[] = []
  for (let path = realpathSync(folder); ; path = dirname(path)) {
    const digests = Object.hasOwn(trusted, path) ? trusted[path] : undefined
    if (digests) found.push(digests)
    if (path === dirname(path)) return found.length === 0 ? undefined : new Set(found.flat())
  }
}

export function isTrusted(place: Place): boolean {
  return trustedIn(place) !== undefined
}

/** Earlier ones stay trusted, because another branch of the project may contain them. */
export function trustFolder({ home, folder }: Place, wishes: readonly { readonly digest: string }[]): void {
  const trusted = readTrusted(home)
  const path = realpathSync(folder)
  const before = Object.hasOwn(trusted, path) ? (trusted[path] ?? []) : []
  const folders = { ...trusted, [path]: [...new Set([...before, ...wishes.map(({ digest }) => digest)])] }
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const draft = `${trustFile(home)}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify({ folders }, undefined, 2)}\n`, { mode: 0o600 })
  renameSync(draft, trustFile(home))
}
