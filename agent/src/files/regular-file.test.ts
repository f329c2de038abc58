import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { readRegularFile } from './regular-file.ts'

const temporary = setFolder()

test('a regular file is read up to its max size, also through a link', () => {
  const path = join(temporary(), 'a')
  writeFileSync(path, 'ä'.repeat(512))
  symlinkSync('a', `${path}-link`)
  const text = { type: 'text', text: 'ä'.repeat(512) }
  expect([readRegularFile(path, 1024), readRegularFile(`${path}-link`, 1024)]).toEqual([text, text])
  writeFileSync(path, 'x'.repeat(1025))
  expect(readRegularFile(path, 1024)).toEqual({ type: 'unreadable', why: 'it is larger than 1 KB' })
  writeFileSync(path, '')
  expect(readRegularFile(path, 1024)).toEqual({ type: 'text', text: '' })
})

test('nothing else is opened', () => {
  const folder = temporary()
  execFileSync('mkfifo', [join(folder, 'pipe')])
  mkdirSync(join(folder, 'folder'))
  symlinkSync('pipe', join(folder, 'link'))
  symlinkSync('loop', join(folder, 'loop'))
  const why = (path: string) => {
    const read = readRegularFile(path, 1024)
    return read.type === 'unreadable' ? read.why.replaceAll(folder, '') : read
  }
  expect(['pipe', 'folder', 'link'].map((name) => why(join(folder, name)))).toEqual(
    ['pipe', 'folder', 'link'].map(() => 'it is not a regular file'),
  )
  expect(['/dev/zero', '/dev/tty'].map(why)).toEqual(['it is not a regular file', 'it is not a regular file'])
  expect(why(join(folder, 'missing'))).toMatch(/^ENOENT/)
  expect(why(join(folder, 'loop'))).toMatch(/^ELOOP/)
})

test.skipIf(process.platform !== 'linux')('a file of the kernel, whose size is 0, is read to its max size', () => {
  expect(readRegularFile('/proc/self/stat', 1024)).toMatchObject({ type: 'text', text: expect.stringMatching(/^\d+ /) })
  expect(readRegularFile('/proc/cpuinfo', 512)).toEqual({ type: 'unreadable', why: 'it is larger than 0.5 KB' })
})
