// The engine's package.json as it is published. In the checkout its exports name the sources; in the package, what they
// were built to.
import { basename, dirname } from 'node:path/posix'

type Manifest = { readonly exports: Readonly<Record<string, unknown>>; readonly [field: string]: unknown }

/** `./src/testing/index.ts` is built to `testing`, `./src/adapters/opentelemetry.ts` to `opentelemetry`. */
export function compiledName(source: string): string {
  const name = basename(source, '.ts')
  return name === 'index' && dirname(source) !== './src' ? basename(dirname(source)) : name
}

export function publishedManifest({ exports, scripts: _, devDependencies: __, ...rest }: Manifest): Manifest {
  const compiled = Object.entries(exports).map(([subpath, source]) => {
    if (typeof source !== 'string' || !source.endsWith('.ts')) return [subpath, source]
    const target = `./dist/${compiledName(source)}`
    return [subpath, { types: `${target}.d.ts`, default: `${target}.js` }]
  })
  return { ...rest, exports: Object.fromEntries(compiled) }
}
