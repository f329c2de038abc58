import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Disk, nodeDisk, systemError } from './disk.ts'
import { createFile, replaceFile } from './whole-file.ts'

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
