// The pages of the site: Markdown of the checkout, with links that work on the site.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dirname, relative } from 'node:path/posix'
import { linksIn } from '../package/pages.ts'
import { root } from '../steps.ts'
import { folders, outline, type Section } from './outline.ts'

export type SitePage = {
  /** From the root of the checkout. */
  readonly source: string
  /** From the root of the site, with `.md`. */
  readonly path: string
  readonly title: string
  /** The first paragraph, as one line without markup. */
  readonly about: string
  readonly text: string
}

export type SiteSection = Omit<Section, 'pages'> & { readonly pages: readonly SitePage[] }

/** The README comes first and is the front page. */
export function siteSections(): readonly SiteSection[] {
  const listed = new Set(outline.flatMap(({ pages }) => pages))
  const rest = folders.map(({ title, folder }) => ({
    title,
    isFolded: true,
    pages: filesOf(`${folder}/*.md`).filter((path) => !listed.has(path)),
  }))
  const all: readonly Section[] = [
    { title: 'Everlong', pages: ['README.md'] },
    ...outline,
    {
      title: 'Project',
      pages: ['CHANGELOG.md', 'GLOSSARY.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md'],
    },
    ...rest,
  ]
  return all.map((section) => ({ ...section, pages: section.pages.map(pageAt) }))
}

function pageAt(source: string): SitePage {
  const text = readFileSync(join(root, source), 'utf8').replaceAll('\r\n', '\n')
  const title = /^# (.*)$/m.exec(text)?.[1] ?? source
  return { source, path: sitePath(source), title, about: firstParagraph(text), text }
}

/** `docs/ai-sdk.md` is at `ai-sdk.md`, `bench/results/cost.md` at `results/cost.md`, a README is the index of its folder, `GLOSSARY.md` is at `glossary.md`. */
export function sitePath(source: string): string {
  return source
    .replace(/^docs\//, '')
    .replace(/^bench\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.md')
    .replace(/^[A-Z_]+\.md$/, (name) => name.toLowerCase().replaceAll('_', '-'))
}

/** Links to pages and pictures of the site stay links. Links to other files of the checkout become plain text. */
export function onSite({ text, source, path }: SitePage, paths: ReadonlyMap<string, string>): string {
  const targets = new Map(linksIn(text, source).map((link) => [link.target, link]))
  return withoutComments(text).replace(
    /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
    (whole, mark, label, target) => {
      const link = targets.get(target)
      if (!link || link.path === source) return whole
      const place = paths.get(link.path) ?? paths.get(`${link.path}/README.md`)
      if (place === undefined) return mark === '!' ? '' : label
      const anchor = link.anchor === undefined ? '' : `#${link.anchor}`
      const to = relative(dirname(path), place)
      return `${mark}[${label}](${to.startsWith('.') ? to : `./${to}`}${anchor})`
    },
  )
}

/** Pictures that pages show, by their path in the checkout. */
export function pictures(): readonly string[] {
  return filesOf('docs/pictures/*.{png,svg,gif,webp}')
}

function withoutComments(text: string): string {
  return text.replace(/^<!--[\s\S]*?-->\n?/gm, '')
}

function firstParagraph(text: string): string {
  const paragraphs = withoutComments(text)
    .replace(/^# .*$/m, '')
    .split(/\n{2,}/)
  const first = paragraphs.find((part) => /^[\p{L}\p{N}`*"“]/u.test(part.trim())) ?? ''
  return first
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}

function filesOf(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
}
