// `npm run build`: the library as people install it, in engine/dist: one JavaScript file and one declaration file for each
// entry, and what they share.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'tsdown'
import { compiledName } from './manifest.ts'
import { root } from './steps.ts'

const engine = join(root, 'engine')
const { exports } = JSON.parse(readFileSync(join(engine, 'package.json'), 'utf8')) as {
  exports: Record<string, string>
}
const sources = Object.values(exports).filter((source) => source.endsWith('.ts'))

await build({
  config: false,
  cwd: engine,
  entry: Object.fromEntries(sources.map((source) => [compiledName(source), source])),
  outDir: 'dist',
  tsconfig: join(root, 'tsconfig.build.json'),
  platform: 'neutral',
  target: 'es2023',
  format: 'esm',
  dts: true,
  hash: false,
  fixedExtension: false,
  // In every file, because whichever is loaded first must say it before it fails for a stranger reason.
  banner: {
    js: `if (!Array.prototype.toSorted) throw new Error('everlong needs Node 20 or later, or a browser of 2023 or later.')`,
  },
  deps: {
    neverBundle: [
      /^node:/,
      '@anthropic-ai/sdk',
      'openai',
      '@openai/agents',
      '@opentelemetry/api',
      'ai',
      '@ai-sdk/provider',
      'langchain',
      /^@langchain\/core/,
      'pg',
    ],
  },
  logLevel: 'error',
})
console.log(`${globSync('**/*', { cwd: join(engine, 'dist') }).length} files in engine/dist`)
