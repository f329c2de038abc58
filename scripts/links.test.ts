import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anchorsIn, linksIn } from './package/pages.ts'
import { root } from './steps.ts'

const pages = globSync(
  ['*.md', 'docs/**/*.md', '*/README.md', 'plugins/*/README.md', 'bench/results/*.md', 'skills/*/*.md'],
  {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  },
)
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('every link of a page leads to a file that is there', () => {
  expect(pages.length).toBeGreaterThan(50)
  const broken = pages.flatMap((page) =>
    linksIn(read(page), page).flatMap(({ target, path }) =>
      existsSync(join(root, path)) ? [] : [`${page}: ${target}`],
    ),
  )
  expect(broken).toEqual([])
})

test('every link to a place on a page leads to a heading', () => {
  const broken = pages.flatMap((page) =>
    linksIn(read(page), page).flatMap(({ target, path, anchor }) => {
      if (anchor === undefined || !path.endsWith('.md') || !existsSync(join(root, path))) return []
      return anchorsIn(read(path)).has(anchor) ? [] : [`${page}: ${target}`]
    }),
  )
  expect(broken).toEqual([])
})

test('no page has the markers of a merge conflict', () => {
  expect(pages.filter((page) => /^(<{7} |>{7} |={7}$)/m.test(read(page)))).toEqual([])
})
