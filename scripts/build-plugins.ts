// `npm run build:plugins [-- NAME…]`: each plug-in as one file, since agents install no packages for theirs.
import { join } from 'node:path'
import { build } from 'tsdown'
import { root } from './steps.ts'

/** A folder in plugins/: what it is built from, and what it is built to. */
const plugins: Readonly<Record<string, { readonly entry: string; readonly out: string }>> = {
  'claude-code': { entry: 'src/main.ts', out: 'dist/everlong.js' },
  codex: { entry: 'src/main.ts', out: 'dist/everlong.js' },
  opencode: { entry: 'src/plugin.ts', out: 'dist/everlong.js' },
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in plugins))
if (unknown.length > 0) {
  console.error(`There is no plug-in ${unknown.join(', ')}. Known: ${Object.keys(plugins).join(', ')}.`)
  process.exit(2)
}

for (const [name, { entry, out }] of Object.entries(plugins)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const [folder = '', file = ''] = out.split('/')
  await build({
    config: false,
    cwd: join(root, 'plugins', name),
    entry: { [file.replace(/\.js$/, '')]: entry },
    outDir: folder,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    dts: false,
    hash: false,
    minify: true,
    fixedExtension: false,
    deps: { neverBundle: [/^node:/, '@anthropic-ai/sdk', 'openai'], alwaysBundle: [/.*/] },
    outputOptions: { codeSplitting: false },
    logLevel: 'error',
  })
}
