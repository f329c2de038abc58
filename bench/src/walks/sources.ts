// What a reader of the sources meets: lines of code, public names, and the reading lists of docs/architecture.md.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { entries, namesIn } from '../../../scripts/public-names.ts'
import { root } from '../root.ts'

const packages = ['engine', 'agent', 'cli', 'plugins', 'simulator', 'bench', 'examples', 'scripts'] as const

export type PackageSize = { readonly name: string; readonly files: number; readonly lines: number }

/** Lines of TypeScript that are not blank, without tests and without `testing` folders. */
export function packageSizes(): readonly PackageSize[] {
  return packages.map((name) => {
    const files = sourcesIn(name)
    const lines = files.map((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .filter((line) => line.trim() !== ''),
    )
    return { name, files: files.length, lines: lines.flat().length }
  })
}

function sourcesIn(folder: string): readonly string[] {
  const exclude = (path: string) => /(^|\/)(node_modules|dist|testing)$|\.test\.tsx?$/.test(path.replaceAll('\\', '/'))
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root, exclude })
}

export type EntrySize = { readonly subpath: string; readonly values: number; readonly types: number }

export function publicNames(): readonly EntrySize[] {
  return entries.map(([subpath, source]) => {
    const { values, types } = namesIn(source)
    return { subpath: subpath.replace('.', 'everlong'), values: values.length, types: types.length }
  })
}

export type ReadingList = {
  /** As the page introduces it: "how a compaction goes". */
  readonly about: string
  /** Files of the engine, relative to the root of the checkout. */
  readonly files: readonly string[]
}

/** The paragraphs of docs/architecture.md that say "To follow …, read". */
export function readingLists(): readonly ReadingList[] {
  const sources = sourcesIn('engine')
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  const lists = [...page.matchAll(/To follow ([\s\S]*?),\s+read\s([\s\S]*?)\n\n/g)].map(([, about = '', list = '']) => {
    const named = [...list.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, path = '']) => path)
    const files = new Set(named.map((path) => sourceOf(path, sources)))
    return { about: about.replaceAll(/\s+/g, ' '), files: [...files] }
  })
  return lists.filter(({ files }) => files.length > 0)
}

function sourceOf(path: string, sources: readonly string[]): string {
  const found = ['engine/src/', 'engine/src/core/']
    .map((folder) => folder + path)
    .find((file) => sources.includes(file))
  if (found === undefined) throw new Error(`docs/architecture.md says to read ${path}, which does not exist.`)
  return found
}
