// Makes a release in a checkout: writes the versions and the changelog, commits and tags. It never publishes or pushes.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import { packageFolders } from '../package/manifest.ts'
import { planRelease } from './plan.ts'

export type ReleaseOptions = {
  readonly root: string
  readonly today: Date
  readonly say: (line: string) => void
}

const usage = 'Usage: npm run release -- patch|minor|major|x.y.z [--dry-run]'

/** Returns the exit code. */
export function release(words: readonly string[], { root, today, say }: ReleaseOptions): number {
  const [word, ...more] = words.filter((each) => each !== '--dry-run')
  const refuse = (why: string) => {
    say(`release: ${why}`)
    return 1
  }
  if (word === undefined || more.length > 0) return refuse(usage)
  const changed = git(root, 'status', '--porcelain').stdout
  if (changed !== '') return refuse(`the tree has changes. Commit them or put them away first:\n${changed.trimEnd()}`)

  const files = Object.fromEntries(released(root).map((path) => [path, readFileSync(join(root, path), 'utf8')]))
  const plan = planRelease({ word, date: today.toLocaleDateString('sv'), files })
  if (plan.type === 'refused') return refuse(plan.why)
  const tag = `v${plan.version}`
  if (git(root, 'tag', '--list', tag).stdout !== '') return refuse(`there is a tag ${tag} already.`)

  const paths = Object.keys(plan.files)
  for (const path of paths) say(`${plan.version}  ${path}`)
  if (words.includes('--dry-run')) {
    say(`A dry run: nothing was written. It would be committed as "Release ${plan.version}" and tagged ${tag}.`)
    return 0
  }
  for (const [path, text] of Object.entries(plan.files)) writeFileSync(join(root, path), text)
  const committed = git(root, 'commit', '--quiet', '--message', `Release ${plan.version}`, '--', ...paths)
  if (committed.status !== 0) {
    git(root, 'checkout', 'HEAD', '--', ...paths)
    return refuse(`git could not commit, so the files are as they were:\n${committed.stderr.trimEnd()}`)
  }
  const tagged = git(root, 'tag', '--annotate', tag, '--message', `Release ${plan.version}`)
  if (tagged.status !== 0)
    return refuse(`the release is committed, but git could not tag it:\n${tagged.stderr.trimEnd()}`)
  for (const line of publishing(plan.version)) say(line)
  return 0
}

/** Every file with a version of ours, and the changelog. */
function released(root: string): readonly string[] {
  const isVersioned = (path: string) => 'version' in JSON.parse(readFileSync(join(root, path), 'utf8'))
  const packages = ['package-lock.json', ...packageFolders(root).map((folder) => join(folder, 'package.json'))]
  const plugins = git(root, 'ls-files', 'plugins/*.json').stdout.split('\n').filter(Boolean).filter(isVersioned)
  return [...new Set([...packages, ...plugins]), 'CHANGELOG.md']
}

function publishing(version: string): readonly string[] {
  return [
    `Committed and tagged v${version}. To publish it:`,
    '  npm run test:package',
    '  npm run package',
    `  npm publish dist/everlong-${version}.tgz`,
    `  npm publish dist/everlong-cli-${version}.tgz --access public`,
    '  git push --follow-tags',
  ]
}

function git(root: string, ...args: readonly string[]) {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' })
}
