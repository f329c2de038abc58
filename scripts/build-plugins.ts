// `npm run build:plugins [-- NAME…]`: each plug-in as one file, since agents install no packages for theirs.
import { basename, join } from 'node:path'
import { build } from 'tsdown'
import { root } from './steps.ts'

type Bundle = {
  readonly entry: string
  readonly out: string
  /** Its host reads the source. */
  readonly isReadable?: boolean
}

/** A folder in plugins/: its sources and built files. The files of `later` are loaded on demand. */
const plugins: Readonly<Record<string, Bundle & { readonly later?: readonly Bundle[] }>> = {
  'claude-code': {
    entry: 'src/main.ts',
    out: 'dist/everlong.js',
    later: [
      { entry: 'src/compare.ts', out: 'dist/compare.js' },
      { entry: 'src/engine.ts', out: 'dist/engine.js' },
      { entry: 'src/hooks-module.ts', out: 'dist/hooks-module.js', isReadable: true },
    ],
  },
  codex: {
    entry: 'src/main.ts',
    out: 'dist/everlong.js',
    later: [
      { entry: 'src/hook.ts', out: 'dist/hook.js' },
      { entry: 'src/engine.ts', out: 'dist/engine.js' },
    ],
  },
  opencode: { entry: 'src/plugin.ts', out: 'dist/everlong.js' },
  pi: { entry: 'src/main.ts', out: 'dist/everlong.js' },
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in plugins))
if (unknown.length > 0) {
  console.error(`There is no plug-in ${unknown.join(', ')}. Known: ${Object.keys(plugins).join(', ')}.`)
  process.exit(2)
}

for (const [name, { later = [], ...first }] of Object.entries(plugins)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  for (const one of [first, ...later]) {
    const others = later.filter((other) => other !== one)
    await bundle(name, one, others)
  }
}

async function bundle(name: string, { entry, out, isReadable }: Bundle, others: readonly Bundle[]): Promise<void> {
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
    minify: isReadable !== true,
    fixedExtension: false,
    deps: { neverBundle: [/^node:/, '@anthropic-ai/sdk', 'openai'], alwaysBundle: [/.*/] },
    plugins: others.map(apart),
    outputOptions: { codeSplitting: false },
    logLevel: 'error',
  })
}

/** Leaves an import of another file unchanged, with the name of its built file. */
function apart({ entry, out }: Bundle) {
  return {
    name: 'apart',
    resolveId: (source: string) =>
      basename(source) === basename(entry) ? { id: `./${basename(out)}`, external: true as const } : undefined,
  }
}
