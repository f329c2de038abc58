// A generated TypeScript repository: the same files and the same planted bugs for the same seed. It lives in memory and
// never touches a disk; tools.ts works on a copy of it.
import { integerBelow, lettersFrom, type Random, type Seed, seededRandom } from '../script/random.ts'
import { mistakeFor, type PlantedMistake } from './mistakes.ts'
import { type ModuleFacts, moduleText, testText } from './modules.ts'
import { buildLogText, configText, designText, readmeText, tableText } from './papers.ts'

/** A mistake in the sources that a test reports until it is fixed. */
export type Bug = {
  /** Relative to the root, as all paths in a repository. */
  readonly path: string
  readonly symbol: string
  /** The present text, which occurs once in the file, and the correct one. */
  readonly wrong: string
  readonly right: string
  readonly testPath: string
  readonly testName: string
  readonly expected: string
  readonly received: string
}

export type Repository = {
  readonly seed: Seed
  readonly name: string
  /** Its apparent location: tools accept paths under it and paths relative to it. */
  readonly root: string
  readonly branch: string
  readonly head: string
  /** Path to content, paths in order. */
  readonly files: ReadonlyMap<string, string>
  readonly bugs: readonly Bug[]
}

const minFiles = 8

/** `files` is the total number, 40 by default and at least 8; every third module has a bug. */
export function syntheticRepository(options: { readonly seed?: Seed; readonly files?: number } = {}): Repository {
  const seed = options.seed ?? 1
  const random = seededRandom('repository', seed)
  const count = Math.max(minFiles, Math.floor(options.files ?? 40))
  const name = `${adjectives[integerBelow(random, adjectives.length)]}-${nouns[integerBelow(random, nouns.length)]}`
  const modules = modulesOf(random, Math.floor((count - 6) / 2))
  const files = new Map<string, string>()
  for (const module of modules) {
    files.set(module.path, moduleText(module, seed))
    files.set(module.testPath, testText(module))
  }
  for (const [path, content] of papersOf({ name, modules, random })) files.set(path, content)
  for (let note = 1; files.size < count; note++) {
    files.set(`docs/decisions/${String(note).padStart(4, '0')}.md`, designText(random, modules))
  }
  return {
    seed,
    name,
    root: `/repo/${name}`,
    branch: `fix/${lettersFrom(random, 6)}`,
    head: integerBelow(random, 0x10000000).toString(16).padStart(7, '0'),
    files: new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    bugs: modules.flatMap((module) => (module.mistake ? [bugOf(module, module.mistake)] : [])),
  }
}

function bugOf(module: ModuleFacts, mistake: PlantedMistake): Bug {
  const { path, testPath } = module
  const { symbol, wrong, right, testName, expected, received } = mistake
  return { path, symbol, wrong, right, testPath, testName, expected, received }
}

function modulesOf(random: Random, count: number): readonly ModuleFacts[] {
  const modules: ModuleFacts[] = []
  for (let index = 0; index < count; index++) {
    const noun = nouns[index % nouns.length] ?? 'thing'
    const area = areas[integerBelow(random, areas.length)] ?? 'core'
    const round = Math.floor(index / nouns.length)
    const name = round === 0 ? noun : `${noun}-${round + 1}`
    modules.push({
      name,
      area,
      path: `src/${area}/${name}.ts`,
      testPath: `src/${area}/${name}.test.ts`,
      leansOn: modules.filter(() => random() < 2 / count).slice(0, 3),
      functions: 4 + integerBelow(random, 10),
      mistake: index % 3 === 0 ? mistakeFor(name, integerBelow(random, 4)) : undefined,
    })
  }
  return modules
}

function papersOf(about: {
  readonly name: string
  readonly modules: readonly ModuleFacts[]
  readonly random: Random
}): readonly (readonly [string, string])[] {
  return [
    ['README.md', readmeText(about.name, about.modules)],
    ['package.json', configText(about.name)],
    ['tsconfig.json', `${JSON.stringify({ compilerOptions: { strict: true, module: 'nodenext' } }, null, 2)}\n`],
    ['docs/architecture.md', designText(about.random, about.modules)],
    ['src/generated/tables.ts', tableText(about.random)],
    ['logs/build.log', buildLogText(about.random, about.modules)],
  ]
}

const areas = ['core', 'store', 'http', 'render', 'queue']
const adjectives = ['quiet', 'amber', 'northern', 'paper', 'copper', 'late']
const nouns = [
  'invoice',
  'parcel',
  'ledger',
  'session',
  'token',
  'cursor',
  'lease',
  'window',
  'batch',
  'shard',
  'digest',
  'ticket',
  'route',
  'quota',
  'schema',
  'cache',
  'journal',
  'signal',
  'worker',
  'template',
]
