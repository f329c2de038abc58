// `npm run build:plugins [-- NAME…]`: each plug-in as one file, since agents install no packages for theirs.
import { basename, join } from 'node:path'
import { build } from 'tsdown'
import { root } from './steps.ts'

type Bundle = { readonly entry: string; readonly out: string }

/** A folder in plugins/: what it is built from, and what it is built to. What is `later` the first file loads when needed. */
const plugins: Readonly<Record<string, Bundle & { readonly later?: Bundle }>> = {
  'claude-code': {
    entry: 'src/main.ts',
    out: 'dist/everlong.js',
    later: { entry: 'src/engine.ts', out: 'dist/engine.js' },
  },
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in plugins))
if (unknown.length > 0) {
  console.error(`There is no plug-in ${unknown.join(', ')}. Known: ${Object.keys(plugins).join(', ')}.`)
  process.exit(2)
}

for (const [name, { later, ...first }] of Object.entries(plugins)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  await bundle(name, first, later)
  if (later) await bundle(name, later)
}

async function bundle(name: string, { entry, out }: Bundle, later?: Bundle): Promise<void> {
  const [folder = '', file = ''] = out.split('/')
  await build({
    config: false,
    cwd: join(root, 'plugins', name),
    entry: { [file.replace(/\.js$/, '')]: entry },
    outDir: folder,
    clean: false,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    dts: false,
    hash: false,
    minify: true,
    fixedExtension: false,
    deps: { neverBundle: [/^node:/, '@anthropic-ai/sdk', 'openai'], alwaysBundle: [/.*/] },
    plugins: later ? [apart(later)] : [],
    outputOptions: { codeSplitting: false },
    logLevel: 'error',
  })
}

/** Leaves an import of the second file as it is, under the name that it is built to. */
function apart({ entry, out }: Bundle) {
  return {
    name: 'apart',
    resolveId: (source: string) =>
      basename(source) === basename(entry) ? { id: `./${basename(out)}`, external: true as const } : undefined,
  }
}
