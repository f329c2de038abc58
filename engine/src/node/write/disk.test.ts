import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFile, type Disk, diskProblem, nodeDisk, replaceFile, systemError } from './disk.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-disk-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const codeOf = (attempt: () => void): string => {
  try {
    attempt()
    return 'none'
  } catch (error) {
    return diskProblem(error).code
  }
}

describe('making a folder', () => {
  test('makes those above it too, for the user alone, and one that is there is fine', () => {
    const deep = join(folder, 'a', 'b', 'c')
    nodeDisk.makeFolder(deep)
    nodeDisk.makeFolder(deep)
    expect([deep, join(folder, 'a')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
  })

  test('through a link to a folder works, and fails on a file or a link that leads nowhere', () => {
    mkdirSync(join(folder, 'real'))
    symlinkSync(join(folder, 'real'), join(folder, 'link'))
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'))
    writeFileSync(join(folder, 'file'), '')
    nodeDisk.makeFolder(join(folder, 'link', 'below'))
    expect(existsSync(join(folder, 'real', 'below'))).toBe(true)
    expect(
      ['file', 'file/below', 'dangling', 'dangling/below'].map((name) =>
        codeOf(() => nodeDisk.makeFolder(join(folder, name))),
      ),
    ).toEqual(['EEXIST', 'ENOTDIR', 'EEXIST', 'EEXIST'])
  })

  test.runIf(existsSync('/proc/self'))('ends where the system allows no folders', () => {
    expect(codeOf(() => nodeDisk.makeFolder('/proc/everlong'))).toBe('ENOENT')
    expect(codeOf(() => nodeDisk.makeFolder('/proc/everlong/below'))).toBe('ENOENT')
  })
})

describe('what the system says', () => {
  const said = (code: string) => Object.assign(new Error(`${code}: raw`), { code, syscall: 'open', path: '/a/b' })

  test('is told in plain words with the path and what to do', () => {
    expect(['ENOSPC', 'EROFS', 'ELOOP', 'EACCES'].map((code) => diskProblem(said(code)))).toEqual([
      { code: 'ENOSPC', message: '/a/b: no space left on the disk. Free some, or choose another place.' },
      { code: 'EROFS', message: '/a/b: the file system is read-only. Choose another place.' },
      {
        code: 'ELOOP',
        message: '/a/b: symbolic links are not followed here. Name the file itself.',
      },
      { code: 'EACCES', message: '/a/b: permission denied. Run as another user, or change the mode.' },
    ])
  })

  test('is left as it is where we have no better words, or chose the words ourselves', () => {
    expect([diskProblem(said('EBUSY')), diskProblem(systemError('ENOENT', 'It was removed.'))]).toEqual([
      { code: 'EBUSY', message: 'EBUSY: raw' },
      { code: 'ENOENT', message: 'It was removed.' },
    ])
  })

  test('is not what a fault of ours says', () => {
    expect(() => diskProblem(new TypeError('a fault'))).toThrow('a fault')
  })
})

const full = () => {
  throw systemError('ENOSPC', 'The disk is full.')
}
const failing: readonly (readonly [string, Disk])[] = [
  ['to write', { ...nodeDisk, write: full }],
  ['to flush', { ...nodeDisk, sync: full }],
  ['to get its name', { ...nodeDisk, rename: full, link: full }],
]

describe('a whole file', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'everlong-whole-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('takes the place of the one before, in a folder that is made for it', () => {
    const path = join(folder, 'new', 'notes.md')
    replaceFile(path, Buffer.from('first'))
    replaceFile(path, Buffer.from('second'), { flush: false })
    expect(readFileSync(path, 'utf8')).toBe('second')
    expect(readdirSync(join(folder, 'new'))).toEqual(['notes.md'])
  })

  test('is created once: who comes later is told, and changes nothing', () => {
    const path = join(folder, 'result.txt')
    expect(createFile(path, Buffer.from('first'))).toBe(true)
    expect(createFile(path, Buffer.from('second'))).toBe(false)
    expect(readFileSync(path, 'utf8')).toBe('first')
    expect(readdirSync(folder)).toEqual(['result.txt'])
  })

  test.each(failing)('that fails %s leaves what was there, and no draft', (_, disk) => {
    const path = join(folder, 'notes.md')
    replaceFile(path, Buffer.from('before'))
    expect(() => replaceFile(path, Buffer.from('after'), { disk })).toThrow('The disk is full.')
    expect(() => createFile(join(folder, 'other.md'), Buffer.from('after'), { disk })).toThrow('The disk is full.')
    expect(readFileSync(path, 'utf8')).toBe('before')
    expect(readdirSync(folder)).toEqual(['notes.md'])
  })
})
