import { chmodSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Bench } from '../../testing/tool-bench.ts'
import { benches } from '../../testing/with-bench.ts'
import { searchFiles } from './matching.ts'
import { findRipgrep, search } from './search.ts'

const setBench = benches()

async function repository(options = {}): Promise<Bench> {
  const bench = await setBench(options)
  const files = {
    '.gitignore': 'dist/\n*.log\n!keep.log\n/only-root.txt\n',
    'src/a.ts': 'import { b } from "./b"\n// TODO: one\nexport const a = b\n',
    'src/b.ts': 'export const b = 1\n// todo: two\n',
    'src/deep/c.py': 'def todo():\n    pass\n',
    'src/deep/.gitignore': 'private.*\n',
    'src/deep/private.ts': 'TODO\n',
    'src/only-root.txt': 'TODO\n',
    'only-root.txt': 'TODO\n',
    'dist/a.js': 'TODO\n',
    'node_modules/x/index.js': 'TODO\n',
    '.git/config': 'TODO\n',
    '.github/ci.yml': 'run: TODO\n',
    'x.log': 'TODO\n',
    'keep.log': 'TODO\n',
  }
  for (const [at, [path, text]] of Object.entries(files).entries()) {
    bench.write(path, text)
    utimesSync(join(bench.folder, path), 1_000 + at, 1_000 + at)
  }
  bench.write('data.bin', 'TODO\u0000')
  symlinkSync(bench.outside, join(bench.folder, 'out'))
  return bench
}

describe('Glob', () => {
  test('finds files by pattern, newest first, without what is ignored', async () => {
    const bench = await repository()
    const found = async (pattern: string, path?: string) =>
      (await bench.say('Glob', { pattern, ...(path === undefined ? {} : { path }) })).split('\n')
    expect(await found('**/*.ts')).toEqual(['src/b.ts', 'src/a.ts'])
    expect(await found('src/**')).toEqual([
      'src/only-root.txt',
      'src/deep/.gitignore',
      'src/deep/c.py',
      'src/b.ts',
      'src/a.ts',
    ])
    expect(await found('*.{py,ts}', 'src/deep')).toEqual(['src/deep/c.py'])
    expect(await found('*.log')).toEqual(['keep.log'])
    expect(await found('*.zig')).toEqual(['No files match.'])
    expect(await found('*', 'nowhere')).toEqual(['ERROR: nowhere: there is no such file.'])
    expect(await found('*', 'keep.log')).toEqual(['ERROR: keep.log is a file, not a folder.'])
    // A folder that is ignored can still be named.
    expect(await found('*', 'dist')).toEqual(['dist/a.js'])
  })

  test('shows 200 files and says how many more there are', async () => {
    const bench = await setBench()
    for (let at = 0; at < 250; at++) bench.write(`f${at}.txt`, '')
    const text = await bench.say('Glob', { pattern: '*.txt' })
    expect(text.split('\n')).toHaveLength(201)
    expect(text.endsWith('[50 more files match: use a narrower pattern.]')).toBe(true)
  })
})

const ripgrep = findRipgrep(process.env.PATH)
const engines = [
  ['our own search', { environment: { PATH: '' } }],
  ...(ripgrep === undefined ? [] : [['ripgrep', {}] as const]),
] as const

describe.each(engines)('Grep with %s', (_, options) => {
  const grep = async (bench: Bench, input: object) => (await bench.say('Grep', input)).split('\n')

  test('lists files, lines or counts', async () => {
    const bench = await repository(options)
    expect(await grep(bench, { pattern: 'TODO' })).toEqual([
      'keep.log',
      '.github/ci.yml',
      'src/only-root.txt',
      'src/a.ts',
    ])
    expect(await grep(bench, { pattern: 'todo', '-i': true, type: 'ts', output_mode: 'content' })).toEqual([
      'src/a.ts:2:// TODO: one',
      'src/b.ts:2:// todo: two',
    ])
    expect(await grep(bench, { pattern: '(?i)todo', glob: 'src/*.ts', output_mode: 'count' })).toEqual([
      'src/a.ts:1',
      'src/b.ts:1',
    ])
    expect(await grep(bench, { pattern: 'TODO', glob: '*.ts' })).toEqual(['src/a.ts'])
    expect(await grep(bench, { pattern: 'TODO', glob: '!*.ts', path: 'src' })).toEqual(['src/only-root.txt'])
    expect(await grep(bench, { pattern: 'nowhere to be found' })).toEqual(['No matches.'])
  })

  test('shows lines around a match, and patterns over several lines', async () => {
    const bench = await setBench(options)
    bench.write('a.txt', 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n')
    const content = (input: object) => grep(bench, { output_mode: 'content', path: 'a.txt', ...input })
    expect(await content({ pattern: 'two|six', '-C': 1 })).toEqual([
      'a.txt-1-one',
      'a.txt:2:two',
      'a.txt-3-three',
      '--',
      'a.txt-5-five',
      'a.txt:6:six',
      'a.txt-7-seven',
    ])
    expect(await content({ pattern: 'two|three', '-A': 1, '-n': false })).toEqual([
      'a.txt:two',
      'a.txt:three',
      'a.txt-four',
    ])
    expect(await content({ pattern: 'two.*four', multiline: true })).toEqual([
      'a.txt:2:two',
      'a.txt:3:three',
      'a.txt:4:four',
    ])
    expect(await content({ pattern: 'two.*four' })).toEqual(['No matches.'])
    expect(await content({ pattern: '^$' })).toEqual(['No matches.'])
  })

  test('keeps to its limits and says so', async () => {
    const bench = await setBench(options)
    bench.write('a.txt', 'match\n'.repeat(500))
    bench.write('b.txt', `match ${'x'.repeat(2_000)}\n`)
    const some = await grep(bench, { pattern: 'match', output_mode: 'content', head_limit: 3 })
    expect(some).toEqual([
      'a.txt:1:match',
      'a.txt:2:match',
      'a.txt:3:match',
      '[More lines match: narrow the pattern, the path or the glob, or raise head_limit.]',
    ])
    const [wide] = await grep(bench, { pattern: 'match', output_mode: 'content', path: 'b.txt' })
    expect(wide).toBe(`b.txt:1:match ${'x'.repeat(494)}… [1506 more characters]`)
  })

  test('says what is wrong with a pattern, a type or a path', async () => {
    const bench = await setBench(options)
    expect(await bench.say('Grep', { pattern: '(' })).toMatch(/^ERROR: The search failed: /)
    expect(await bench.say('Grep', { pattern: 'a', type: 'cobol' })).toMatch(
      /^ERROR: Unknown file type cobol. Known: c, /,
    )
    expect(await bench.say('Grep', { pattern: 'a', path: 'nowhere' })).toBe('ERROR: nowhere: there is no such file.')
  })
})

test.each(['Grep', 'Glob'])('files that a rule for %s denies are not found by a search from above', async (tool) => {
  const bench = await repository({ permissions: { deny: [`${tool}(src/a.ts)`] } })
  expect(await bench.say('Grep', { pattern: 'TODO', path: 'src' })).not.toContain('src/a.ts')
  expect(await bench.say('Glob', { pattern: 'src/*.ts' })).toBe('src/b.ts')
})

test('files that may not be read are not searched', async () => {
  const bench = await repository({ permissions: { deny: ['Read(.github)', 'Read(src/a.ts)'] } })
  expect((await bench.say('Grep', { pattern: 'TODO' })).split('\n')).toEqual(['keep.log', 'src/only-root.txt'])
  expect((await bench.say('Glob', { pattern: 'src/*.ts' })).split('\n')).toEqual(['src/b.ts'])
  expect(await bench.say('Grep', { pattern: 'TODO', path: 'src/a.ts' })).toMatch(/^ERROR: Permission was denied: /)
})

test('without ripgrep, a search that stops at its limit says so, and one that finds no more does not', async () => {
  const bench = await setBench()
  for (const name of ['a.txt', 'b.txt']) bench.write(name, 'heron\n'.repeat(3))
  const files = ['a.txt', 'b.txt'].map((name) => join(bench.folder, name))
  const find = (most: number) =>
    search(
      { pattern: 'heron', ignoreCase: false, multiline: false, files, most },
      { signal: new AbortController().signal, ripgrep: undefined },
    )
  expect(await find(3)).toMatchObject({ type: 'found', isCut: true })
  expect(await find(9)).toMatchObject({ type: 'found', isCut: false })
})

test('ripgrep is ended when the search is stopped', async () => {
  const bench = await setBench()
  bench.write('bin/rg', '#!/bin/sh\nexec sleep 20\n')
  chmodSync(join(bench.folder, 'bin/rg'), 0o755)
  const controller = new AbortController()
  const wanted = { files: [join(bench.folder, 'bin/rg')], pattern: 'a', ignoreCase: false, multiline: false, most: 10 }
  const searching = search(wanted, { signal: controller.signal, ripgrep: join(bench.folder, 'bin/rg') })
  setTimeout(() => controller.abort(), 50)
  expect(await searching).toEqual({ type: 'failed', why: expect.stringMatching(/abort/i) })
})

test('a search that would take forever is given up when it is stopped, and blocks nothing', async () => {
  const bench = await setBench({ environment: { PATH: '' } })
  bench.write('a.txt', `${'a'.repeat(50)}!\n`)
  const controller = new AbortController()
  const searching = bench.call('Grep', { pattern: '^(a+)+$' }, controller.signal)
  await new Promise((resolve) => setTimeout(resolve, 300))
  controller.abort()
  expect(await searching).toEqual({ content: 'The search failed: It was stopped.', isError: true })
})

test('the search without ripgrep stops after the file in which the limit of lines is reached', async () => {
  const bench = await setBench()
  const files = ['a.txt', 'b.txt', 'c.txt'].map((name) => {
    bench.write(name, 'TODO\nTODO\n')
    return join(bench.folder, name)
  })
  const found = (most: number) =>
    searchFiles({ files, pattern: 'TODO', ignoreCase: false, multiline: false, most }).map(({ lines }) => lines.length)
  expect([1, 2, 3, 4, 5, 9].map(found)).toEqual([[2], [2], [2, 2], [2, 2], [2, 2, 2], [2, 2, 2]])
})
