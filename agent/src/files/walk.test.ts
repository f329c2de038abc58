// Git itself is asked which files it does not ignore.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { walk } from './walk.ts'

const temporary = setFolder()
const git = (folder: string, ...args: readonly string[]) =>
  spawnSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
  })
const hasGit = git('/', '--version').status === 0

const paths = [
  'a.ts',
  'b.log',
  'x y',
  'src/a.ts',
  'src/b.log',
  'src/build/c.ts',
  'build/d.ts',
  'docs/deep/e.md',
  'docs/f.md',
  '.env',
  'keep/.env',
  '#odd',
  'a[1].ts',
]
const line = fc.constantFrom(
  ...[
    '*.log',
    '!b.log',
    'build/',
    '/build',
    'src/build',
    'docs/*.md',
    'docs/**',
    '**/f.md',
    '.env',
    '!keep/.env',
    '# comment',
    '',
    'x y',
    'x*',
    '\\#odd',
  ],
  ...[
    '*',
    '!*/',
    '!src/',
    '!a.ts',
    'a[[]1].ts',
    '*.ts',
    'src/',
    '/a.ts',
    'deep',
    'docs/**/e.md',
    'b.log  ',
    '?.ts',
    '[ab].*',
    '/',
    '**',
  ],
)
const lines = fc.array(line, { maxLength: 5 })

test.skipIf(!hasGit)(
  'a walk lists what git does not ignore',
  async () => {
    const folder = temporary()
    git(folder, 'init', '-q')
    for (const path of paths) {
      mkdirSync(join(folder, dirname(path)), { recursive: true })
      writeFileSync(join(folder, path), '')
    }
    const { signal } = new AbortController()
    const own = async () => (await walk(folder, { root: folder, signal })).files.map((file) => relative(folder, file))
    const theirs = () => git(folder, 'ls-files', '-z', '-o', '--exclude-standard').stdout.split('\0').slice(0, -1)
    await fc.assert(
      fc.asyncProperty(lines, lines, async (top, inner) => {
        writeFileSync(join(folder, '.gitignore'), top.join('\n'))
        writeFileSync(join(folder, 'src', '.gitignore'), inner.join('\n'))
        expect([...(await own())].sort()).toEqual([...theirs()].sort())
      }),
      { numRuns: 150 },
    )
    rmSync(join(folder, '.git'), { recursive: true })
  },
  120_000,
)

test('a walk ends at its limit and when it is stopped, and leaves out what may not be seen', async () => {
  const folder = temporary()
  for (const path of paths) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), '')
  }
  const { signal } = new AbortController()
  const some = await walk(folder, { root: folder, signal, most: 3 })
  expect([some.files.length, some.isCut]).toEqual([3, true])
  const isHidden = (path: string) => path.endsWith('src') || path.endsWith('.env')
  const seen = await walk(folder, { root: folder, signal, isHidden })
  expect(seen.files.some((path) => /src|\.env/.test(relative(folder, path)))).toBe(false)
  await expect(walk(folder, { root: folder, signal: AbortSignal.abort() })).rejects.toThrow()
})
