// Holds every page: links lead somewhere, and no merge was left half done.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './steps.ts'

const pages = ['*.md', 'docs/**/*.md', 'plugins/*/README.md', 'bench/results/*.md']
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

test('every link to a file leads to one', () => {
  const dead = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(join(root, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  )
  expect(dead).toEqual([])
})

test('no page has the markers of a merge conflict', () => {
  const marked = pages.filter(({ text }) => /^(<{7} |>{7} |={7}$)/m.test(text))
  expect(marked.map(({ path }) => path)).toEqual([])
})
