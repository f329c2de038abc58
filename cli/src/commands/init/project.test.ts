import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { NoProject, readProject } from './project.ts'

const base = mkdtempSync(join(tmpdir(), 'everlong-project-'))
afterAll(() => rmSync(base, { recursive: true }))

let projects = 0
/** A project; a lock file and installed packages only if they are named. */
function project(manifest: object | string, ...paths: readonly string[]): string {
  const folder = join(base, `project-${++projects}`)
  mkdirSync(folder)
  mkdirSync(join(folder, '.git'))
  writeFileSync(join(folder, 'package.json'), typeof manifest === 'string' ? manifest : JSON.stringify(manifest))
  for (const path of paths) mkdirSync(join(folder, path), { recursive: true })
  return folder
}

test.each([
  [true, true, true],
  [true, false, false],
  [false, true, false],
  [false, false, false],
])('Everlong is there if it is a dependency (%s) and installed (%s): %s', (isNamed, isInstalled, hasEverlong) => {
  const folder = project(
    { dependencies: isNamed ? { everlong: '1' } : {} },
    ...(isInstalled ? ['node_modules/everlong'] : []),
  )
  expect(readProject(folder).hasEverlong).toBe(hasEverlong)
})

test.each([
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
])('%s means %s, also in a folder above up to the repository', (lock, name) => {
  const folder = project({}, lock, 'packages/app')
  writeFileSync(join(folder, 'packages/app/package.json'), '{}')
  expect([readProject(folder).manager.name, readProject(join(folder, 'packages/app')).manager.name]).toEqual([
    name,
    name,
  ])
  expect(readProject(project({})).manager.name).toBe('npm')
})

test('a folder without a package.json, and one that cannot be read, are no projects', () => {
  expect(() => readProject(base)).toThrow(NoProject)
  expect(() => readProject(project('{ nope'))).toThrow(/is not valid JSON/)
})
