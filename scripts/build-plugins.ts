// `npm run build:plugins`: the Claude Code plug-in as one file, since Claude Code installs no packages for it.
import { join } from 'node:path'
import { build } from 'tsdown'
import { root } from './steps.ts'

await build({
  config: false,
  cwd: join(root, 'plugins/claude-code'),
  entry: { everlong: 'src/main.ts' },
  outDir: 'dist',
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
