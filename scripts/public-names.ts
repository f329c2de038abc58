// The public names of the engine, read from its entries.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './steps.ts'

export const engine = join(root, 'engine')

const { exports } = JSON.parse(readFileSync(join(engine, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>
}

/** Each public subpath with its source. `everlong/internal` is not public. */
export const entries = Object.entries(exports).filter(
  ([subpath, source]) => source.endsWith('.ts') && !subpath.startsWith('./internal'),
)

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
