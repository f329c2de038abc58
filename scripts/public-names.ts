// The public names of the engine, read from its entries.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './steps.ts'

export const engine = join(root, 'engine')

const { exports } = JSON.parse(readFileSync(join(engine, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>
}

const sources = Object.entries(exports).filter(([, source]) => source.endsWith('.ts'))
const isInternal = (subpath: string) => subpath.startsWith('./internal')

/** Each public subpath with its source. `everlong/internal` is not public. */
export const entries = sources.filter(([subpath]) => !isInternal(subpath))
export const internalEntries = sources.filter(([subpath]) => isInternal(subpath))

/** Types in one list, values in the other: entries name each thing they export. */
export function namesIn(source: string): { readonly values: readonly string[]; readonly types: readonly string[] } {
  const text = readFileSync(join(engine, source), 'utf8')
  const listed = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type = '', names = '']) =>
    names.split(',').map((name) => `${type}${name.trim().replace(/\w+ as /, '')}`),
  )
  const declared = [...text.matchAll(/^export (type|function|const|class) (\w+)/gm)].map(([, kind, name = '']) =>
    kind === 'type' ? `type ${name}` : name,
  )
  const all = [...listed, ...declared].filter((name) => name !== '' && name !== 'type ').toSorted()
  const isType = (name: string) => name.startsWith('type ')
  return {
    values: all.filter((name) => !isType(name)),
    types: all.filter(isType).map((name) => name.replace(/^(type )+/, '')),
  }
}

type Names = { readonly subpath: string; readonly names: readonly string[] }

export const maxInMain = 49
/** Without everlong/testing. */
export const maxInAll = 150

/** What is wrong with the public names, one sentence each. `index` is docs/api/README.md. */
export function checkNames(given: {
  readonly index: string
  readonly entries: readonly Names[]
  readonly internal: readonly Names[]
  /** The texts of everything that may import everlong/internal. */
  readonly sources: readonly string[]
}): readonly string[] {
  const rows = given.index.split('\n').flatMap((line) => {
    const [, subpath, names] = /^\| \[(\S+)\]\(\S+\) \| .* \| (.*) \|$/.exec(line) ?? []
    return subpath && names ? [{ subpath, names: [...names.matchAll(/\w+/g)].map(([name]) => name) }] : []
  })
  const update = 'Run npm test -- scripts/api-reference -u, and note it in CHANGELOG.md.'
  const differences = given.entries.flatMap(({ subpath, names }) => {
    const known = rows.filter((row) => row.subpath === subpath).flatMap((row) => row.names)
    return [
      ...names
        .filter((name) => !known.includes(name))
        .map((name) => `${subpath} exports ${name}, which docs/api/README.md does not list. ${update}`),
      ...known
        .filter((name) => !names.includes(name))
        .map((name) => `docs/api/README.md lists ${name}, which ${subpath} does not export. ${update}`),
    ]
  })
  const inMain = given.entries.find(({ subpath }) => subpath === 'everlong')?.names.length ?? 0
  const inAll = given.entries.flatMap(({ subpath, names }) => (subpath === 'everlong/testing' ? [] : names)).length
  const imported = new Set(given.sources.flatMap(importsIn))
  const unused = given.internal.flatMap(({ subpath, names }) =>
    names
      .filter((name) => !imported.has(`${subpath} ${name}`))
      .map((name) => `${subpath} exports ${name}, which nothing imports. Remove it.`),
  )
  return [
    ...differences,
    ...(inMain > maxInMain ? [`everlong exports ${inMain} names; at most ${maxInMain} are allowed.`] : []),
    ...(inAll > maxInAll ? [`The public entries export ${inAll} names; at most ${maxInAll} are allowed.`] : []),
    ...unused,
  ]
}

/** `everlong/internal isText`, for each imported name. */
function importsIn(text: string): readonly string[] {
  const found = text.matchAll(/(?:import|export) (?:type )?\{([^}]*)\} from '(everlong\/internal[\w/-]*)'/g)
  const awaited = text.matchAll(/\{([^}]*)\}[^{}]*import\('(everlong\/internal[\w/-]*)'\)/g)
  return [...found, ...awaited].flatMap(([, names = '', subpath = '']) =>
    names.split(',').map(
      (name) =>
        `${subpath} ${name
          .trim()
          .replace(/^type /, '')
          .replace(/(?: as|:) .*/, '')}`,
    ),
  )
}
