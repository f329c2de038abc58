import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPrinted } from './printed.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-printed-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function printed() {
  const notices: string[] = []
  return { ...createPrinted((text) => notices.push(text)), notices, log: join(folder, 'session', 'output.log') }
}

test('everything is logged, also what came before there was a log; each line is shown once', () => {
  const { add: hear, logTo, notices, log } = printed()
  hear('one\ntwo\n')
  logTo(log)
  hear('two\n')
  hear('two\nthree \u001b[2Jfour\n')
  expect(readFileSync(log, 'utf8')).toBe('one\ntwo\ntwo\ntwo\nthree \u001b[2Jfour\n')
  expect(notices).toEqual(['A library printed: one two', 'A library printed: three four'])
})

test('a program that prints without end fills neither the disk nor the screen', () => {
  const { add: hear, logTo, notices, log } = printed()
  hear('x'.repeat(3_000_000))
  logTo(log)
  for (let at = 0; at < 30; at++) hear(`${at}${'y'.repeat(100_000)}\n`)
  const again = printed()
  again.logTo(log)
  again.add('again\n')
  expect(statSync(log).size).toBe(1_000_000)
  expect(notices).toHaveLength(5)
  expect(notices.at(-1)).toMatch(/^.{1,420}… More output only goes to the log\.$/)
})

test('a log that cannot be written is reported once', () => {
  const { add: hear, logTo, notices, log } = printed()
  writeFileSync(join(folder, 'session'), 'a file where the folder should be')
  logTo(log)
  hear('one\n')
  hear('one\n')
  expect(notices).toEqual([expect.stringMatching(/^The output of libraries is not logged: /), 'A library printed: one'])
})
