// Compiles the TypeScript in the README and the docs. All blocks of a page are one module, in their order. What a block
// takes for granted is declared in an HTML comment, which readers do not see: <!-- ts: declare const answer: Message -->
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from './steps.ts'

// Below examples/, where the packages that the pages import are installed.
const folder = join(root, 'examples', '.code-blocks')
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => join('docs', name))].filter((path) =>
  path.endsWith('.md'),
)

/** Each line keeps its number, so that an error names the line of the page. */
function moduleOf(page: string): string {
  let isCode = false
  const lines = page.split('\n').map((line) => {
    const declared = /^<!-- ts: (.*) -->$/.exec(line)?.[1]
    if (declared !== undefined) return declared
    if (line.startsWith('```')) {
      isCode = line === '```ts'
      return ''
    }
    return isCode ? line : ''
  })
  return [...lines, 'export {}', ''].join('\n')
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('every code block in the README and the docs compiles', () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const path of pages) {
    const text = readFileSync(join(root, path), 'utf8')
    if (text.includes('```ts\n')) writeFileSync(join(folder, `${basename(path, '.md')}.ts`), moduleOf(text))
  }
  const options = { noUnusedLocals: false, noUnusedParameters: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions: options, include: ['*.ts'], exclude: [] }),
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder], { cwd: folder, encoding: 'utf8' })
  expect(stdout + stderr).toBe('')
})
