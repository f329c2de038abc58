import { globSync } from 'node:fs'
import { dirname } from 'node:path/posix'
import { expect, test } from 'vitest'
import { linksIn } from '../package/pages.ts'
import { root } from '../steps.ts'
import { llmsFull, llmsIndex } from './llms.ts'
import { onSite, pictures, type SitePage, sitePath, siteSections } from './pages.ts'

const sections = siteSections()
const pages = sections.flatMap((section) => section.pages)
const paths = new Map([
  ...pages.map((page) => [page.source, page.path] as const),
  ...pictures().map((path) => [path, sitePath(path)] as const),
])

test('every page of docs has one place in the order', () => {
  const all = globSync('docs/**/*.md', { cwd: root }).map((path) => path.replaceAll('\\', '/'))
  const listed = pages.map(({ source }) => source)
  expect(all.filter((path) => listed.filter((one) => one === path).length !== 1)).toEqual([])
  expect(new Set(pages.map(({ path }) => path)).size).toBe(pages.length)
})

test('every page has a title and says what it is about', () => {
  expect(
    pages.filter(({ title, about, source }) => title === source || about === '').map(({ source }) => source),
  ).toEqual([])
})

test('every link on the site leads to a page or a picture of the site', () => {
  const places = new Set(paths.values())
  const broken = pages.flatMap((page) =>
    linksIn(onSite(page, paths), page.path)
      .filter(({ path }) => !places.has(path))
      .map(({ target }) => `${page.path}: ${target}`),
  )
  expect(broken).toEqual([])
  expect(pages.flatMap((page) => linksIn(onSite(page, paths), page.path)).length).toBeGreaterThan(100)
})

test('a link keeps its place, and one to a file that is not on the site becomes text', () => {
  const page: SitePage = {
    source: 'docs/a.md',
    path: 'a.md',
    title: 'A',
    about: '',
    text: 'See [the cost](../bench/results/cost.md#targets), [code](../engine/src/index.ts), [`below`](#b) and [web](https://example.com/x).\n![A picture](pictures/p.png)\n<!-- ts: declare const x: 1 -->\n![Gone](gone.png)\n## B',
  }
  const known = new Map([
    ['bench/results/cost.md', 'results/cost.md'],
    ['docs/pictures/p.png', 'pictures/p.png'],
  ])
  expect(onSite(page, known)).toBe(
    'See [the cost](./results/cost.md#targets), code, [`below`](#b) and [web](https://example.com/x).\n![A picture](./pictures/p.png)\n\n## B',
  )
})

test('llms.txt names every page, and llms-full.txt contains the docs', () => {
  const index = llmsIndex(sections)
  expect(index.startsWith('# Everlong\n\n> Context-window management for LLM agents:')).toBe(true)
  const named = [...index.matchAll(/^- \[.+?\]\(\/([^)]+)\)/gm)].map(([, path]) => path)
  expect(named).toEqual(pages.slice(1).map(({ path }) => path))
  for (const line of index.split('\n')) expect(line.length).toBeLessThan(400)
  const full = llmsFull(sections)
  for (const { text, path } of pages.filter((page) => dirname(page.source) === 'docs')) {
    expect([path, full.includes(text.trim())]).toEqual([path, true])
  }
})
