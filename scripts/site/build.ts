// Builds the documentation site: pages, search, playground, llms.txt. The result is plain files for any static host.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildPlayground } from '@everlong/viewer/build'
import { fetchPackages } from '../fetch-packages.ts'
import { root } from '../steps.ts'
import { llmsFull, llmsIndex } from './llms.ts'
import { onSite, pictures, type SiteSection, sitePath, siteSections } from './pages.ts'

export type SiteOptions = {
  readonly outDir: string
  /** The path of the site on its host, with slashes at both ends. */
  readonly base?: string
}

/** Inside the page, so that no browser requests a file. */
const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M5 8c-4-6-4 6 0 0s6-6 6 0-2 6-6 0z" fill="none" stroke="#4f6bed" stroke-width="2"/></svg>')}`

const tools = join(root, 'scripts/site')

export async function buildSite({ outDir, base = '/' }: SiteOptions): Promise<void> {
  fetchPackages({ folder: 'scripts/site', what: 'the site generator (about 100 MB)' })
  // Below the generator, so that the pages find its packages.
  const source = join(tools, 'dist/source')
  rmSync(source, { recursive: true, force: true })
  const sections = siteSections()
  writePages(source, sections)
  await buildPlayground(join(source, 'public/playground'))
  writeConfig(source, { sections, base })
  const vitepress = join(tools, 'node_modules/vitepress/bin/vitepress.js')
  const args = [vitepress, 'build', source, '--outDir', outDir]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: tools, encoding: 'utf8' })
  if (status !== 0) throw new Error(`The site could not be built:\n${stdout}\n${stderr}`)
  // VitePress turns .md addresses into pages; models read the Markdown itself.
  for (const { path, text } of sections.flatMap(({ pages }) => pages)) write(join(outDir, path), text)
}

function writePages(source: string, sections: readonly SiteSection[]): void {
  const pages = sections.flatMap((section) => section.pages)
  const paths = new Map([
    ...pages.map((page) => [page.source, page.path] as const),
    ...pictures().map((path) => [path, sitePath(path)] as const),
  ])
  for (const page of pages) write(join(source, page.path), onSite(page, paths))
  for (const path of pictures()) {
    mkdirSync(dirname(join(source, sitePath(path))), { recursive: true })
    cpSync(join(root, path), join(source, sitePath(path)))
  }
  write(join(source, 'public/llms.txt'), llmsIndex(sections))
  write(join(source, 'public/llms-full.txt'), llmsFull(sections))
}

type ConfigInput = { readonly sections: readonly SiteSection[]; readonly base: string }

function writeConfig(source: string, { sections, base }: ConfigInput): void {
  const { version } = JSON.parse(readFileSync(join(root, 'engine/package.json'), 'utf8')) as {
    readonly version: string
  }
  const link = (path: string) => `/${path.replace(/(index)?\.md$/, '')}`
  const sidebar = sections.map(({ title, pages, isFolded = false }) => ({
    text: title,
    collapsed: isFolded,
    items: pages.map((page) => ({ text: page.title, link: link(page.path) })),
  }))
  const config = {
    title: 'Everlong',
    description: 'Context-window management for LLM agents',
    base,
    cleanUrls: false,
    // The text of transcripts and prompts has braces and angle brackets, which are text and not a template.
    markdown: { html: false },
    head: [['link', { rel: 'icon', href: icon }]],
    vite: { logLevel: 'error' },
    themeConfig: {
      search: { provider: 'local' },
      outline: [2, 3],
      sidebar,
      nav: [
        { text: 'Getting started', link: '/getting-started' },
        { text: 'Playground', link: `${base}playground/playground.html`, target: '_self' },
        { text: `v${version}`, items: [{ text: 'Changelog', link: '/changelog' }, ...olderVersions(version)] },
      ],
    },
  }
  write(join(source, '.vitepress/config.mjs'), configText(config))
}

/** Indented code is shown like fenced code, because VitePress gives only the latter a scrolling frame. */
const configText = (config: object) => `const config = ${JSON.stringify(config, undefined, 2)}
config.markdown.config = ({ renderer: { rules } }) => {
  rules.code_block = (tokens, at, ...rest) => {
    tokens[at].info = 'text'
    return rules.fence(tokens, at, ...rest)
  }
}
export default config
`

/** Each released version has a site of its own, below its tag. */
function olderVersions(current: string): readonly { readonly text: string; readonly link: string }[] {
  const { stdout } = spawnSync('git', ['tag', '--list', 'v*', '--sort=-version:refname'], {
    cwd: root,
    encoding: 'utf8',
  })
  const tags = (stdout ?? '').split('\n').filter((tag) => tag !== '' && tag !== `v${current}`)
  return tags.map((tag) => ({ text: tag, link: `/${tag}/` }))
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
