// The made-up project of a session: a fixed number of files that are read, edited and searched again and again.

import type { Random } from '../random.ts'
import type { FileText } from './calls.ts'
import { name, type TextKind, type TextPool } from './text.ts'
import { folders, nouns } from './words.ts'

export type Project = {
  readonly cwd: string
  /** The most used files come up more often. */
  some(): FileText
  paths(count: number): readonly string[]
  put(path: string, content: string): void
  newPath(): string
  /** Content for a new file. */
  write(path: string): string
}

export type ProjectOptions = {
  readonly random: Random
  readonly pool: TextPool
  readonly cwd: string
  readonly largestFile: number
}

const fileCount = 24

export function project(options: ProjectOptions): Project {
  const { random, pool, cwd } = options
  const files = new Map<string, string>()
  const newPath = () => {
    const ending = random.pick(['ts', 'ts', 'ts', 'md', 'json'])
    return `${cwd}/${random.pick(folders)}/${random.pick(nouns)}-${random.hex(2)}.${ending}`
  }
  const write = (path: string) =>
    `${opening(random, path)}${pool.cut(kindOf(path), typicalSize(random, options.largestFile))}\n`
  const fill = () => {
    while (files.size < fileCount) {
      const path = newPath()
      files.set(path, write(path))
    }
    return [...files.keys()]
  }
  const somePath = () => {
    const all = fill()
    return all[Math.floor(random.next() ** 2 * all.length)] ?? newPath()
  }
  return {
    cwd,
    newPath,
    write,
    some: () => {
      const path = somePath()
      return { path, content: files.get(path) ?? '' }
    },
    paths: (count) => Array.from({ length: count }, somePath),
    put: (path, content) => {
      if (!files.has(path) && files.size >= fileCount) files.delete(fill()[random.int(0, fileCount - 1)] ?? '')
      files.set(path, content)
    },
  }
}

function kindOf(path: string): TextKind {
  if (path.endsWith('.md')) return 'markdown'
  return path.endsWith('.json') ? 'json' : 'code'
}

function opening(random: Random, path: string): string {
  if (path.endsWith('.md')) return `# ${name(random)}\n\n`
  return path.endsWith('.json') ? '[\n' : `// ${name(random)}, part ${random.int(1, 999)} of the service.\n`
}

/** Half below about 2 KB, one in a hundred above 20 KB. */
export function typicalSize(random: Random, largest: number): number {
  const size = Math.round(1_800 * Math.exp(1.05 * normal(random)))
  return Math.min(Math.max(size, 60), largest)
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
}
