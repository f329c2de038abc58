// The changes of a release, as data: the versions of all packages and plug-ins, and the changelog. Reads and writes nothing.

export type Files = Readonly<Record<string, string>>

export type ReleasePlan =
  | { readonly type: 'planned'; readonly version: string; readonly files: Files }
  | { readonly type: 'refused'; readonly why: string }

export type ReleaseInput = {
  /** patch, minor, major, or a version. */
  readonly word: string
  /** As yyyy-mm-dd. */
  readonly date: string
  /** The package.json files, the manifests of plug-ins, package-lock.json and CHANGELOG.md, by path. */
  readonly files: Files
}

const versionPattern = /^\d+\.\d+\.\d+$/

export function planRelease({ word, date, files }: ReleaseInput): ReleasePlan {
  const current = versionIn(files['package.json'] ?? '{}')
  const version = nextVersion(current, word)
  if (version === undefined) {
    return refused(`"${word}" is not a release. Give patch, minor, major, or a version such as 1.2.3.`)
  }
  if (!isLater(version, current)) return refused(`${version} is not later than ${current}, the current version.`)
  const manifests = Object.keys(files).filter((path) => path !== 'CHANGELOG.md')
  const astray = manifests.find((path) => versionIn(files[path] ?? '') !== current)
  if (astray !== undefined) {
    return refused(
      `${astray} has version ${versionIn(files[astray] ?? '')}, and the root has ${current}. Make them equal.`,
    )
  }
  const changelog = releasedChangelog(files['CHANGELOG.md'] ?? '', `${version} (${date})`)
  if (changelog === undefined) {
    return refused('CHANGELOG.md says nothing below "## Unreleased". Write what changed, and commit it.')
  }
  const changed = manifests.map((path) => {
    const text = files[path] ?? ''
    const isLock = path === 'package-lock.json'
    return [path, isLock ? withLockVersion(text, version) : withVersion(text, current, version)]
  })
  return { type: 'planned', version, files: { ...Object.fromEntries(changed), 'CHANGELOG.md': changelog } }
}

function refused(why: string): ReleasePlan {
  return { type: 'refused', why }
}

function versionIn(manifest: string): string {
  return String(JSON.parse(manifest).version)
}

function nextVersion(current: string, word: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = current.split('.').map(Number)
  if (word === 'major') return `${major + 1}.0.0`
  if (word === 'minor') return `${major}.${minor + 1}.0`
  if (word === 'patch') return `${major}.${minor}.${patch + 1}`
  return versionPattern.test(word) ? word : undefined
}

function isLater(version: string, current: string): boolean {
  return version.localeCompare(current, 'en', { numeric: true }) > 0
}

/** Replaces the file's own version and the versions of our packages in it, as text, so that the formatting stays. */
function withVersion(text: string, current: string, version: string): string {
  const ours = new RegExp(`("(?:everlong|@everlong/[\\w-]+)": )"${current.replaceAll('.', '\\.')}"`, 'g')
  return text.replace(`"version": "${current}"`, `"version": "${version}"`).replace(ours, `$1"${version}"`)
}

/** In the lock file, another package may have the same version. */
function withLockVersion(text: string, version: string): string {
  const lock = JSON.parse(text)
  lock.version = version
  for (const [path, entry] of Object.entries<Record<string, unknown>>(lock.packages)) {
    if (path.includes('node_modules')) continue
    entry.version = version
    for (const field of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) {
      const versions = entry[field] as Record<string, string> | undefined
      for (const name of Object.keys(versions ?? {})) {
        if (versions && /^(everlong$|@everlong\/)/.test(name)) versions[name] = version
      }
    }
  }
  return `${JSON.stringify(lock, null, 2)}\n`
}

/** Gives the unreleased changes their own heading. Undefined if there are none. */
function releasedChangelog(text: string, heading: string): string | undefined {
  const [, before = '', unreleased = '', rest = ''] =
    /^([\s\S]*^## Unreleased\n)([\s\S]*?)(^## [\s\S]*)?$(?![\s\S])/m.exec(text) ?? []
  const says = unreleased.split('\n').some((line) => line.trim() !== '' && !line.startsWith('#'))
  return says ? `${before}\n## ${heading}\n${unreleased}${rest}` : undefined
}
