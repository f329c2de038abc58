import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { memoryIn, notesIn } from './notes.ts'

const root = mkdtempSync(join(tmpdir(), 'everlong-notes-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const newFolder = () => join(mkdtempSync(join(root, 'data-')), 'waiting')

test('a note is what was last put for its session, and no other file is left beside it', () => {
  const folder = newFolder()
  const notes = notesIn<object>(folder)
  notes.put('one', { bytes: 1 })
  notes.put('two', { bytes: 2 })
  notes.put('one', { bytes: 3 })
  expect([notes.get('one'), notes.get('two'), notes.get('three')]).toEqual([{ bytes: 3 }, { bytes: 2 }, undefined])
  expect(readdirSync(folder).sort()).toEqual(['one.json', 'two.json'])
})

test('a removed note is gone, others stay, and the folder goes with the last one', () => {
  const folder = newFolder()
  const notes = notesIn<number>(folder)
  notes.put('one', 1)
  notes.put('two', 2)
  notes.remove('one')
  expect([notes.get('one'), notes.get('two'), existsSync(folder)]).toEqual([undefined, 2, true])
  notes.remove('two')
  expect(existsSync(folder)).toBe(false)
  notes.remove('two')
  notes.put('two', 4)
  expect(notes.get('two')).toBe(4)
})

test('a note that cannot be understood counts as none', () => {
  const folder = newFolder()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'one.json'), '{"bytes": 1')
  expect(notesIn(folder).get('one')).toBe(undefined)
})

test('a file that cannot be read is an error, and not an empty note', () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'one.json'), { recursive: true })
  expect(() => notesIn(folder).get('one')).toThrow('EISDIR')
})

test('the kinds of notes of a session do not meet', () => {
  const memory = memoryIn(newFolder())
  memory.mark.put('s', 'mark')
  memory.pending.put('s', { bytes: 1, given: 'text' })
  memory.mark.remove('s')
  expect([memory.mark.get('s'), memory.pending.get('s'), memory.prepared.get('s'), memory.atEnd.get('s')]).toEqual([
    undefined,
    { bytes: 1, given: 'text' },
    undefined,
    undefined,
  ])
})
