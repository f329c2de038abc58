// `npm run bench -- walks`: how much code runs for one thing that Everlong does, and how much there is to read.
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import recorded from './before.json' with { type: 'json' }
import { type Coverage, coverageOf } from './coverage.ts'
import { type EntrySize, type PackageSize, packageSizes, publicNames, readingLists } from './sources.ts'
import { type Walk, walks } from './walks.ts'

type WalkFigures = {
  readonly name: string
  /** Files; `simulator` is how many of those that ran belong to the simulator. */
  readonly loaded: number
  readonly ran: number
  readonly simulator: number
  /** Named functions that were called. */
  readonly functions: number
}

type Figures = {
  readonly walks: readonly WalkFigures[]
  /** `notRun`: files that ran in no walk. */
  readonly readingLists: readonly {
    readonly about: string
    readonly files: number
    readonly notRun: readonly string[]
  }[]
  readonly packages: readonly PackageSize[]
  readonly names: readonly EntrySize[]
}

const before: Figures & { readonly commit: string } = recorded

export const benchmark = defineBenchmark({ name: 'walks', run: measure, page: pageOf })

async function measure(): Promise<Figures> {
  const covered: (Coverage & { readonly name: string })[] = []
  for (const walk of walks) covered.push({ name: walk.name, ...(await walked(walk)) })
  const everRan = new Set(covered.flatMap(({ ran }) => ran))
  return {
    walks: covered.map(({ name, loaded, ran, functions }) => {
      const simulator = ran.filter((path) => path.startsWith('simulator/')).length
      return { name, loaded: loaded.length, ran: ran.length, simulator, functions }
    }),
    readingLists: readingLists().map(({ about, files }) => {
      return { about, files: files.length, notRun: files.filter((file) => !everRan.has(file)) }
    }),
    packages: packageSizes(),
    names: publicNames(),
  }
}

function walked({ prepare }: Walk): Promise<Coverage> {
  return inTemporaryFolder((folder) => {
    const { words, input } = prepare(folder)
    return coverageOf(words, { folder, input })
  })
}

const isPublic = ({ subpath }: EntrySize) => !/\/(internal|testing)(\/|$)/.test(subpath)
const sum = <Item>(items: readonly Item[], of: (item: Item) => number) =>
  items.reduce((total, item) => total + of(item), 0)

function withTotals({ packages, names, ...rest }: Figures): Figures {
  const open = names.filter(isPublic)
  const allLines = { files: sum(packages, ({ files }) => files), lines: sum(packages, ({ lines }) => lines) }
  const allNames = { values: sum(open, ({ values }) => values), types: sum(open, ({ types }) => types) }
  return {
    ...rest,
    packages: [...packages, { name: 'all', ...allLines }],
    names: [...names, { subpath: 'all without `internal` and `testing`', ...allNames }],
  }
}

/** "118 → 90"; one number if there is no other. */
function change(earlier: number | undefined, now: number | undefined): string {
  return [earlier, now].filter((figure) => figure !== undefined).join(' → ')
}

function pageOf(figures: Figures): Page {
  const now = withTotals(figures)
  const then = withTotals(before)
  const subpaths = [...new Set([...now.names, ...then.names].map(({ subpath }) => subpath))]
  const names = ({ names: all }: Figures, subpath: string) => {
    const found = all.find((entry) => entry.subpath === subpath)
    return found && found.values + found.types
  }
  return {
    title: 'How much code there is to follow',
    parts: [
      `Written by \`npm run bench -- walks\`. \`a → b\`: before, at commit ${before.commit}, and now, with the same programs.`,
      '## Walks',
      `Each walk is a process of its own under V8's coverage (\`bench/src/walks\`). Only sources of this repository count: files
that are loaded, files of which a named function is called, and the named functions that are called.`,
      table(
        ['walk', 'files loaded', 'files that ran', 'of the simulator', 'functions'],
        now.walks.map(({ name, loaded, ran, simulator, functions }) => {
          const earlier = then.walks.find((walk) => walk.name === name)
          return [
            name,
            change(earlier?.loaded, loaded),
            change(earlier?.ran, ran),
            change(earlier?.simulator, simulator),
            change(earlier?.functions, functions),
          ]
        }),
      ),
      '## Reading lists',
      'The lists in [docs/architecture.md](../../docs/architecture.md), and which of their files ran in none of the walks.',
      table(
        ['to follow', 'files', 'did not run'],
        now.readingLists.map(({ about, files, notRun }) => {
          const earlier = then.readingLists.find((list) => list.about === about)
          return [about, change(earlier?.files, files), notRun.join(', ')]
        }),
      ),
      '## Size',
      'Lines of TypeScript that are not blank, without tests and `testing` folders.',
      table(
        ['package', 'files', 'lines'],
        now.packages.map(({ name, files, lines }) => {
          const earlier = then.packages.find((found) => found.name === name)
          return [name, change(earlier?.files, files), change(earlier?.lines, lines)]
        }),
      ),
      '## Public names',
      'Values and types that each subpath of `everlong` exports.',
      table(
        ['subpath', 'names'],
        subpaths.map((subpath) => [subpath, change(names(then, subpath), names(now, subpath) ?? 0)]),
      ),
    ],
  }
}
