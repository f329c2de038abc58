// Compiles the TypeScript in the README and the docs. A block with imports starts a module, one without continues it. What
// a block takes for granted is declared before it in an HTML comment, which readers do not see, or for the whole page:
// <!-- ts: declare const answer: Message -->  <!-- ts on this page: declare const model: string -->
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from './steps.ts'

// Below examples/, where the packages that the pages import are installed.
const folder = join(root, 'examples', '.code-blocks')
const pages = [
  'README.md',
  'engine/README.md',
  'skills/everlong/SKILL.md',
  ...readdirSync(join(root, 'docs')).map((name) => join('docs', name)),
].filter((path) => path.endsWith('.md'))

/** The modules of a page. Each line keeps its number, so that an error names the line of the page. */
function modulesOf(page: string): readonly string[] {
  const lines = page.split('\n')
  const shared = lines.map((line) => /^<!-- ts on this page: (.*) -->$/.exec(line)?.[1] ?? '')
  const modules: string[][] = []
  let declared: (readonly [at: number, text: string])[] = []
  for (let at = 0; at < lines.length; at++) {
    const text = /^<!-- ts: (.*) -->$/.exec(lines[at] ?? '')?.[1]
    if (text !== undefined) declared.push([at, text])
    if (lines[at] !== '```ts') continue
    const end = lines.indexOf('```', at + 1)
    const block = lines.slice(at + 1, end)
    if (modules.length === 0 || block.some((line) => line.startsWith('import '))) modules.push([...shared])
    const module = modules.at(-1) ?? []
    for (const [index, line] of [...declared, ...block.map((line, nth) => [at + 1 + nth, line] as const)]) {
      module[index] = line
    }
    declared = []
    at = end
  }
  return modules.map((module) => [...module, 'export {}', ''].join('\n'))
}

/** `engine/README.md` becomes `engine-README`. */
function nameOf(path: string): string {
  return path
    .replace(/\.md$/, '')
    .replace(/^docs[/\\]/, '')
    .replace(/[/\\]/g, '-')
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('every code block in the READMEs and the docs compiles', { timeout: 90_000 }, () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const path of pages) {
    const text = readFileSync(join(root, path), 'utf8')
    for (const [nth, module] of modulesOf(text).entries()) {
      writeFileSync(join(folder, `${nameOf(path)}-${nth + 1}.ts`), module)
    }
  }
  // Most projects have neither.
  const options = { noUnusedLocals: false, noUnusedParameters: false, exactOptionalPropertyTypes: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions: options, include: ['*.ts'], exclude: [] }),
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder, '--singleThreaded'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stdout + stderr).toBe('')
})
