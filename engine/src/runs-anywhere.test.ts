// The main entry in a browser or on the edge: it bundles without Node and runs where only the language and a few web
// standards exist.
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build, type Platform } from 'esbuild'
import { describe, expect, test } from 'vitest'

/** What every browser, Deno, Bun and edge runtime has. No process, no Buffer, no require. */
const webStandards = { crypto, AbortController, AbortSignal, setTimeout, clearTimeout }

async function bundled(
  code: string,
  { platform = 'neutral', minify = false }: { platform?: Platform; minify?: boolean },
) {
  const { outputFiles, warnings } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'result',
    target: 'es2023',
    platform,
    minify,
  })
  expect(warnings).toEqual([])
  return outputFiles[0]?.text ?? ''
}

async function run(code: string, platform: Platform): Promise<unknown> {
  const script = await bundled(code, { platform })
  return runInNewContext(`${script}; result.default`, { ...webStandards })
}

const entry = JSON.stringify(join(import.meta.dirname, 'index.ts'))

describe.each(['browser', 'neutral'] as const)('bundled for %s', (platform) => {
  test('estimateTokens counts', async () => {
    const code = `import { estimateTokens } from ${entry}\nexport default estimateTokens('Hello, world.')`
    expect(await run(code, platform)).toBe(4)
  })

  test('compact makes a conversation shorter', async () => {
    const code = `
      import { compact } from ${entry}
      const messages = []
      for (let at = 0; at < 20; at++) {
        messages.push({ role: 'user', content: 'Step ' + at + ': rename the column. ' + 'More about it. '.repeat(50) })
        messages.push({ role: 'assistant', content: 'Done with step ' + at + '.' })
      }
      export default compact(messages, { keep: 2 }).then(({ type, messages }) => [type, messages.at(-1).content].join())`
    expect(await run(code, platform)).toBe('compacted,Done with step 19.')
  })

  test('a session in memory prepares, compacts, recalls and undoes', async () => {
    const code = `
      import { createEngine, offline } from ${entry}
      export default (async () => {
        const session = await createEngine({ model: offline() }).start()
        session.add({ role: 'user', content: 'Never drop the table orders_2019.' })
        const { type } = await session.prepare()
        session.record({ content: 'First a backup, then the schema.' })
        session.add({ role: 'user', content: 'Good. Explain each step.' })
        session.record({ content: 'The backup comes first because a schema cannot be undone. '.repeat(400) })
        const compaction = await session.compact()
        const { matches } = await session.recall('orders_2019')
        const undone = await session.undo()
        await session.close()
        return [type, compaction.type, matches.length > 0, undone.type].join()
      })()`
    expect(await run(code, platform)).toBe('ready,compacted,true,undone')
  })
})

test.each(['anthropic', 'openai'])('everlong/%s bundles with nothing but its own SDK left out', async (name) => {
  const code = `export * from ${JSON.stringify(join(import.meta.dirname, `${name}.ts`))}`
  const { metafile } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    metafile: true,
    external: ['@anthropic-ai/sdk', 'openai'],
  })
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  expect(new Set(imported)).toEqual(new Set([name === 'anthropic' ? '@anthropic-ai/sdk' : 'openai']))
})

/**
 * In kB, minified and gzipped. The goal is 60 and 20 for all of it; until then a bundle may not grow unnoticed.
 * The estimator's tables are 12 kB of each.
 */
const ceilings = [
  { name: 'estimateTokens', minified: 16, gzipped: 11 },
  { name: 'compact', minified: 187, gzipped: 77 },
  { name: 'createEngine', minified: 377, gzipped: 144 },
]

test.each(ceilings)('$name stays below $minified kB, $gzipped kB gzipped', async ({ name, minified, gzipped }) => {
  const text = await bundled(`export { ${name} } from ${entry}`, { minify: true })
  expect(text.length / 1000).toBeLessThan(minified)
  expect(gzipSync(text).length / 1000).toBeLessThan(gzipped)
})
