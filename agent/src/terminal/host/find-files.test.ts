import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { setFolder } from '../../testing/folder.ts'
import { bestMatches, createFileFinder } from './find-files.ts'

const temporary = setFolder()

test('files are found by name, then by path, and hidden ones only with a dot', () => {
  const files = ['src/parser/index.ts', 'docs/old-parser.md', 'src/parser.ts', 'parser.test.ts', '.cache/parser.ts']
  expect(bestMatches(files, 'parser')).toEqual([
    'src/parser.ts',
    'parser.test.ts',
    'docs/old-parser.md',
    'src/parser/index.ts',
  ])
  expect(bestMatches(files, 'SRC/p')).toEqual(['src/parser.ts', 'src/parser/index.ts'])
  expect(bestMatches(files, '.cache')).toEqual(['.cache/parser.ts'])
  expect(bestMatches(files, 'nothing')).toEqual([])
})

test('files that .gitignore names are not offered', async () => {
  const folder = temporary()
  mkdirSync(join(folder, 'dist'))
  for (const path of ['dist/main.js', 'main.ts']) writeFileSync(join(folder, path), '')
  writeFileSync(join(folder, '.gitignore'), 'dist\n')
  expect(await createFileFinder(folder)('main')).toEqual(['main.ts'])
})

test('a new file is offered when the list is no longer fresh', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const folder = temporary()
    writeFileSync(join(folder, 'main.ts'), '')
    const find = createFileFinder(folder)
    expect(await find('main')).toEqual(['main.ts'])
    writeFileSync(join(folder, 'main.test.ts'), '')
    expect(await find('main')).toEqual(['main.ts'])
    vi.advanceTimersByTime(5_001)
    expect(await find('main')).toEqual(['main.ts', 'main.test.ts'])
  } finally {
    vi.useRealTimers()
  }
})
