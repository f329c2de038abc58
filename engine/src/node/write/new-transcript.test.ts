import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeNewTranscript } from './disk.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-new-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('all records are written, however many', () => {
  const path = join(folder, 'new.jsonl')
  const all = Array.from({ length: 1_234 }, (_, number) => ({ number }))
  expect(writeNewTranscript(path, (write) => all.forEach(write))).toBe(true)
  expect(
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(all)
})

test('what fails on the way leaves no file behind', () => {
  const failing = (write: (record: object) => void) => {
    for (let number = 0; number < 600; number++) write({ number })
    throw new Error('The source was taken away.')
  }
  expect(() => writeNewTranscript(join(folder, 'new.jsonl'), failing as never)).toThrow('The source was taken away.')
  expect(readdirSync(folder)).toEqual([])
})

test('a file that is there is left as it is', () => {
  const path = join(folder, 'there.jsonl')
  writeFileSync(path, 'mine')
  expect(writeNewTranscript(path, (write) => write({}))).toBe(false)
  expect(readFileSync(path, 'utf8')).toBe('mine')
})
