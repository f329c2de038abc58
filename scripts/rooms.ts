// The table of allowed imports, and the pure check that enforces it. docs/architecture.md explains it.
import { posix } from 'node:path'

/** A file belongs to the deepest of these folders; `*` is any folder without its own row. Allowed imports: rooms, then packages. */
type Room = { readonly rooms: readonly string[]; readonly packages?: readonly string[] }

const core = 'engine/src/core'
const base = [`${core}/text`, `${core}/message`, `${core}/tools`, `${core}/catalog`, `${core}/settings`]

const upToRestore = under('tokens', 'cache', 'transcript', 'ledger', 'prompts', 'ports', 'request')

export const rooms: Readonly<Record<string, Room>> = {
  [`${core}/text`]: { rooms: [] },
  [`${core}/message`]: { rooms: [`${core}/text`] },
  [`${core}/tools`]: { rooms: [`${core}/text`, `${core}/message`] },
  [`${core}/catalog`]: { rooms: [] },
  [`${core}/settings`]: { rooms: [`${core}/text`, `${core}/message`, `${core}/tools`] },
  [`${core}/recall`]: { rooms: [`${core}/text`] },
  [`${core}/tokens`]: { rooms: base },
  [`${core}/cache`]: { rooms: base },
  [`${core}/transcript`]: { rooms: base },
  [`${core}/prompts`]: { rooms: base },
  [`${core}/ledger`]: { rooms: [...base, `${core}/transcript`] },
  [`${core}/ports`]: { rooms: [...base, ...under('cache', 'transcript')] },
  [`${core}/request`]: { rooms: [...base, ...under('transcript', 'ports')] },
  [`${core}/restore`]: { rooms: [...base, ...under('tokens', 'cache', 'transcript', 'ledger', 'prompts', 'ports')] },
  [`${core}/mechanisms`]: { rooms: [...base, ...upToRestore, ...under('compaction')] },
  [`${core}/compaction`]: { rooms: [...base, ...upToRestore, ...under('restore')] },
  [`${core}/memory`]: { rooms: [...base, ...upToRestore, ...under('compaction')] },
  [`${core}/collapse`]: { rooms: [core] },
  [`${core}/session`]: { rooms: [core] },
  'engine/src/node': { rooms: [core, 'engine/src/models'], packages: ['node:'] },
  'engine/src/node/testing': { rooms: [core, 'engine/src/node', 'engine/src/testing'], packages: ['node:'] },
  'engine/src/models': {
    rooms: [core],
    packages: ['@anthropic-ai/sdk', 'openai'],
  },
  'engine/src/adapters': {
    rooms: [core, 'engine/src/models'],
    packages: [
      '@opentelemetry/api',
      'ai',
      '@ai-sdk/provider',
      '@anthropic-ai/sdk',
      'openai',
      '@openai/agents',
      'langchain',
      '@langchain/core',
    ],
  },
  'engine/src/adapters/testing': { rooms: [core, 'engine/src/adapters'], packages: ['fast-check'] },
  'engine/src/stores': { rooms: [core] },
  // Each store by itself. A driver is an optional peer of the engine.
  'engine/src/stores/*': { rooms: [core, 'engine/src/node', 'engine/src/stores/rules.ts'], packages: ['*'] },
  'engine/src/stores/testing': { rooms: ['engine/src'], packages: ['node:', 'pg'] },
  'engine/src/testing': { rooms: [core] },
  'engine/src': { rooms: ['engine/src'] },
  simulator: { rooms: ['simulator'], packages: ['*'] },
  // Its tests find real agents in the same way as those of the plug-ins.
  gateway: { rooms: ['gateway', 'plugins/testing'], packages: ['*'] },
  // It starts the same database as the engine's tests.
  'gateway/src/testing': { rooms: ['gateway', 'engine/src/stores/testing'], packages: ['*'] },
  agent: { rooms: ['agent'], packages: ['*'] },
  cli: { rooms: ['cli'], packages: ['*'] },
  viewer: { rooms: ['viewer'], packages: ['*'] },
  // Runs in a browser too.
  'viewer/src/data': { rooms: [], packages: ['everlong'] },
  'viewer/src/page': {
    rooms: ['viewer/src/data'],
    packages: ['everlong', 'react', 'react-dom', '@tanstack/react-virtual'],
  },
  plugins: { rooms: ['plugins'], packages: ['*'] },
  bench: { rooms: ['bench'], packages: ['*'] },
  // The fit writes the estimator's weights, so it must read its character classes, which are otherwise private.
  'bench/src/tokens': { rooms: ['bench', `${core}/tokens`], packages: ['*'] },
  // It starts the same database as the engine's tests.
  'bench/src/store': { rooms: ['bench', 'engine/src/stores/testing'], packages: ['*'] },
  'bench/src/gateway': { rooms: ['bench', 'engine/src/stores/testing', 'gateway/src/testing'], packages: ['*'] },
  // It runs the agents of the adapters' contract.
  'bench/src/adapters': { rooms: ['bench', 'examples/src/adapters'], packages: ['*'] },
  // It installs packages as the documentation site does.
  'bench/src/peers': { rooms: ['bench', 'scripts'], packages: ['*'] },
  // It counts the public names.
  'bench/src/walks': { rooms: ['bench', 'scripts'], packages: ['*'] },
  examples: { rooms: ['examples'], packages: ['*'] },
  scripts: { rooms: ['scripts'], packages: ['*'] },
}

function under(...names: readonly string[]): readonly string[] {
  return names.map((name) => `${core}/${name}`)
}

/** Words that would make core depend on something other than its arguments. */
const impure: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\b/, 'reads the clock: take the time as an argument'],
  [/\bMath\.random\b|\bcrypto\b/, 'uses randomness: take ids as an argument'],
  [/\bfetch\(|\bsetTimeout\b|\bsetInterval\b|\bconsole\.|\bprocess\.|\bglobalThis\b/, 'reaches outside'],
  [/^(export )?let\b/m, 'keeps module state'],
  [/^(export )?const \w+(: [^=\n]*)? = new (Map|Set|WeakMap|WeakSet)\(\)/m, 'keeps module state'],
]

const maxFileLines = 400

export type Source = { readonly path: string; readonly text: string }
export type Violation = { readonly path: string; readonly problem: string }

export function checkRooms(sources: readonly Source[]): readonly Violation[] {
  const graph = new Map(sources.map((source) => [source.path, importsOf(source)]))
  return [
    ...sources.flatMap((source) => checkFile(source, graph.get(source.path) ?? [])),
    ...ringsOf(graph).map((ring) => ({ path: ring[0] ?? '', problem: `is in a ring of imports: ${ring.join(' → ')}` })),
  ]
}

function checkFile(source: Source, imports: readonly string[]): readonly Violation[] {
  const violations: Violation[] = []
  const say = (problem: string) => violations.push({ path: source.path, problem })
  const found = roomOf(source.path)
  const isTest = source.path.endsWith('.test.ts')
  if (found === undefined) say('is in no room of scripts/rooms.ts')
  else if (!isTest) {
    for (const target of imports) {
      const problem = mayImport({ ...found, target })
      if (problem) say(problem)
    }
  }
  if (source.path.startsWith(`${core}/`) && !isTest) {
    const code = withoutComments(source.text)
    for (const [pattern, why] of impure) if (pattern.test(code)) say(`${why} (core is pure)`)
  }
  const lines = source.text.split('\n').length
  if (lines > maxFileLines && !isTest) say(`has ${lines} lines; at most ${maxFileLines} are allowed`)
  return violations
}

function mayImport(at: NamedRoom & { readonly target: string }): string | undefined {
  const isPackage = !at.target.includes('/') || !/\.(tsx?|css)$/.test(at.target)
  if (isPackage) {
    const packages = at.room.packages ?? []
    if (packages.includes('*') || packages.some((allowed) => at.target.startsWith(allowed))) return undefined
    return `imports the package ${at.target}, which ${at.name} may not lean on`
  }
  if (roomOf(at.target)?.name === at.name) return undefined
  if (at.room.rooms.some((allowed) => at.target === allowed || at.target.startsWith(`${allowed}/`))) return undefined
  return `imports ${at.target}, which is not open to ${at.name}`
}

type NamedRoom = { readonly name: string; readonly room: Room }

function roomOf(path: string): NamedRoom | undefined {
  for (let name = posix.dirname(path); name !== '.' && name !== '/'; name = posix.dirname(name)) {
    const room = rooms[name] ?? rooms[`${posix.dirname(name)}/*`]
    if (room) return { name, room }
  }
  return undefined
}

/** What a file imports: paths from the root for relative imports, the package's name for others. */
function importsOf(source: Source): readonly string[] {
  const pattern =
    /(?:^|[;\n])\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]/gm
  return [...withoutComments(source.text).matchAll(pattern)].map((match) => {
    const target = match[1] ?? match[2] ?? match[3] ?? ''
    return target.startsWith('.') ? posix.join(posix.dirname(source.path), target) : target
  })
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

function ringsOf(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const rings: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string) => {
    const at = path.indexOf(file)
    if (at >= 0) rings.push([...path.slice(at), file])
    if (at >= 0 || done.has(file)) return
    path.push(file)
    for (const target of graph.get(file) ?? []) if (graph.has(target)) visit(target)
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return rings
}
