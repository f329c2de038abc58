// What searches read. read-only.test.ts has the commands that ask because of it.
import { expect, test } from 'vitest'
import { disk, noDisk } from './disk.ts'
import { gitLeaves } from './repositories.ts'
import { readsClosed, searchOf } from './searches.ts'

test.each<[command: string, places: readonly string[] | undefined]>([
  ['cat a b', undefined],
  ['grep x a', undefined],
  ['grep -r x', ['x', '.']],
  ['grep -r x a b', ['x', 'a', 'b']],
  ['grep -r -e x a', ['x', 'a']],
  ['grep -r -ex a', ['a']],
  ['grep -r -e x', ['x', '.']],
  ['grep -rA 2 x', ['2', 'x', '.']],
  ['grep -rA2 x a', ['x', 'a']],
  ['grep -r --context 2 x', ['2', 'x', '.']],
  ['grep -r --context=2 x a', ['x', 'a']],
  ['grep -r --files-with-matches x', ['x', '.']],
  ['grep -r -- -x a', ['a']],
  ['grep -r -', ['.']],
  ['rg x', ['x', '.']],
  ['rg x a', ['x', 'a']],
  ['rg -t js x', ['js', 'x', '.']],
  ['rg --files', ['.']],
  ['rg --files a', ['a']],
  ['rg --glob-case-insensitive x a', ['x', 'a']],
  ['diff a b', ['a', 'b']],
])('%s', (command, places) => {
  expect(searchOf(command.split(' '))?.places).toEqual(places)
})

const where = { root: '/work', disk: { ...disk, exists: () => true }, isClosed: (path: string) => path.endsWith('key') }
const search = { places: ['.'], skipsDotted: false }

test('a search among too many files may read a closed one', () => {
  const below = (isCut: boolean) => ({ ...where, disk: { ...where.disk, filesBelow: () => ({ files: [], isCut }) } })
  expect([false, true].map((isCut) => readsClosed(search, '/work', below(isCut)))).toEqual([false, true])
})

test('git may look into a repository among too many files, if its index has one', () => {
  const leaves = (isCut: boolean, contains: boolean) =>
    gitLeaves('/work', {
      root: '/work',
      disk: {
        ...noDisk,
        exists: (path) => path === '/work/.git',
        contains: () => contains,
        filesBelow: () => ({ files: [], isCut }),
      },
    })
  expect([leaves(false, true), leaves(true, true), leaves(true, false)]).toEqual([false, true, false])
})
