// Text as agents' search tools print it, made from the file names and lines of all packages of one split together:
// a single package has too few names of its own to learn from.
import { basename } from 'node:path/posix'
import { type Random, randomFrom } from '../random.ts'
import type { PackedFile } from './packages.ts'
import type { Sample, Split } from './sample.ts'

export type Shelf = { readonly name: string; readonly files: readonly PackedFile[] }

type Hit = { readonly path: string; readonly line: string; readonly number: number }

const textFile = /\.(ts|js|mjs|cjs|tsx|py|pyi|java|swift|m|h|cc|css|scss|md|json|html|xml)$/
const samplesOfForm = 90

export function mixedSamples(split: Split, shelves: readonly Shelf[]): readonly Sample[] {
  const random = randomFrom({ train: 31, test: 32, fresh: 33 }[split])
  const hits = shelves.flatMap((shelf) => hitsOf(shelf, random))
  const forms: Readonly<Record<string, (hit: Hit) => string>> = {
    paths: ({ path }) => path,
    tree: ({ path }) => `${'│   '.repeat(path.split('/').length % 4)}${random.pick(['├── ', '└── '])}${basename(path)}`,
    jsonl: ({ path, number, line }) => JSON.stringify({ type: 'match', path, line: number, text: line }),
    grep: ({ path, number, line }) => `${path}:${number}:${line}`,
  }
  return Object.entries(forms).flatMap(([category, form]) =>
    Array.from({ length: samplesOfForm }, () => {
      const root = random.pick([
        '',
        '',
        './',
        '/home/dev/work/',
        '/Users/sam/code/app/',
        'C:\\work\\',
        'github.com/acme/',
      ])
      const text = Array.from({ length: 5 + random.below(50) }, () => root + form(random.pick(hits))).join('\n')
      return { category, source: `all packages (${split})`, text }
    }),
  )
}

/** As many from a small package as from a large one. */
function hitsOf({ files }: Shelf, random: Random): readonly Hit[] {
  const wanted = files.filter(({ path }) => textFile.test(path) && !/\/\d+\.json$|\.min\./.test(path))
  if (wanted.length === 0) return []
  return Array.from({ length: 200 }, () => {
    const { path, text } = random.pick(wanted)
    const lines = text().slice(0, 50_000).split('\n')
    const number = random.below(lines.length)
    return { path, line: (lines[number] ?? '').slice(0, 200), number: number + 1 }
  })
}
