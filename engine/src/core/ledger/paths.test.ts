import { expect, test } from 'vitest'
import { call } from '../../testing/talk.ts'
import { estimateTokens } from '../tokens/estimate.ts'
import { createLedger } from './ledger.ts'
import { shortPaths, wholePaths } from './paths.ts'
import { renderLedger } from './render.ts'

const file = (path: string, last = 0) => ({
  path,
  reads: 1,
  changes: 0,
  created: false,
  act: 'read' as const,
  last,
  changedLast: -1,
  seen: [],
  changed: [],
})

test('a path from inside the project is the whole one that ends so, if there is just one', () => {
  const paths = ['/p/src/door.ts', '/p/a/lock.ts', '/p/b/a/lock.ts', 'src/door.ts', './a/lock.ts', 'door.ts']
  expect([...wholePaths(paths.map((path) => file(path)))]).toEqual([['src/door.ts', '/p/src/door.ts']])
})

test('the folder is told once; the files touched last, and those outside or right in it, keep their whole path', () => {
  const inside = Array.from({ length: 12 }, (_, at) => file(`/p/src/door${at}.ts`, at + 2))
  const { folder, shorten } = shortPaths({
    root: '/p',
    files: [...inside, file('/tmp/other.ts'), file('/p/README.md', 1)],
  })
  expect(folder).toBe('/p/')
  expect(inside.slice(0, 6).map(({ path }) => shorten(path))).toEqual([
    'src/door0.ts',
    'src/door1.ts',
    'src/door2.ts',
    'src/door3.ts',
    '/p/src/door4.ts',
    '/p/src/door5.ts',
  ])
  expect(['/tmp/other.ts', '/p/README.md'].map(shorten)).toEqual(['/tmp/other.ts', '/p/README.md'])
})

test('with few files, or no folder known, every path is whole', () => {
  const files = Array.from({ length: 9 }, (_, at) => file(`/p/src/door${at}.ts`, at))
  expect(shortPaths({ root: '/p', files }).folder).toBeUndefined()
  expect(shortPaths({ files }).folder).toBeUndefined()
})

test('on a small page the short paths say where they lie, and numbers of one label stand together', () => {
  const book = createLedger()
  for (let at = 0; at < 14; at++) {
    const file_path = `/home/someone/project/src/door${at}.ts`
    const input = { file_path, old_string: 'a', new_string: `openDoor${at}(width ${100 + at}, width ${200 + at})` }
    for (const { message, record } of call({ name: 'Edit', input })) {
      book.add(message, { ...record, cwd: '/home/someone/project' })
    }
  }
  const page = renderLedger(book.ledger(), { budget: 1200, countTokens: estimateTokens })
  expect(page).toContain('- paths below that begin with a name lie in /home/someone/project/\n')
  expect(page).toContain('\n- src/door1.ts (changed): openDoor1 width 101, 201')
  expect(page).toContain('\n- /home/someone/project/src/door13.ts (changed): openDoor13 width 113, 213')
})
