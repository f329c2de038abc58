import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openMemory } from 'everlong/internal/node'
import { session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../testing/harness.ts'
import type { MemoryReport } from './memory/report.ts'

const folder = sessionFolder()
afterAll(() => folder.remove())

const told = () =>
  session({ startTime: '2026-03-02T09:00:00.000Z' })
    .user('Find the heron. Never wake the owl.')
    .toolUse('t1', 'Read', { file_path: 'src/heron.ts' })
    .toolResult('t1', 'const heron = 1 \u001b[31mred\n').text

function write(name: string) {
  const file = folder.writeBytes(`${name}.jsonl`, told())
  return { file, notes: join(folder.path, name, 'session-memory', 'summary.md') }
}

test('where there are no notes they are made and shown, and nothing is written', async () => {
  const { file, notes } = write('none')
  const { exitCode, stdout, stderr } = await everlong(['memory', file])
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toContain('This session has no notes.')
  expect(stdout).toContain('Find the heron. Never wake the owl.')
  expect(existsSync(notes)).toBe(false)
  const made = await report<MemoryReport>('memory', file)
  expect(made).toMatchObject({ path: file, notes, origin: 'made', isWritten: false })
  expect(made.sections.map(({ heading }) => heading)).toHaveLength(10)
})

test('--write stores them once, and never over notes that are there', async () => {
  const { file, notes } = write('written')
  expect(await report('memory', file, '--write')).toMatchObject({ origin: 'made', isWritten: true })
  const first = readFileSync(notes, 'utf8')
  expect(first).toContain('# Task specification')
  expect(openMemory(file).progress()).toEqual({
    tokens: expect.any(Number),
    lastSeen: expect.any(String),
    failures: 0,
  })
  writeFileSync(notes, first.replace('Never wake the owl', 'A person wrote this'))
  expect(await report('memory', file, '--write')).toMatchObject({ origin: 'kept', isWritten: false })
  expect(readFileSync(notes, 'utf8')).toContain('A person wrote this')
  const { stdout } = await everlong(['memory', file])
  expect(stdout).toContain('tokens of notes, in')
  expect(stdout).toContain('A person wrote this')
})

test('a template of one’s own decides the sections', async () => {
  const { file } = write('own')
  mkdirSync(join(folder.path, 'own', 'session-memory', 'config'), { recursive: true })
  writeFileSync(
    join(folder.path, 'own', 'session-memory', 'config', 'template.md'),
    '# Current state\n_now_\n\n# Birds\n_which_\n',
  )
  const { sections } = await report<MemoryReport>('memory', file)
  expect(sections.map(({ heading }) => heading)).toEqual(['Current state', 'Birds'])
})

test('a file that is not there, and one that is no transcript', async () => {
  expect(await everlong(['memory', join(folder.path, 'missing.jsonl')])).toMatchObject({ exitCode: 1, stdout: '' })
  const other = folder.writeBytes('other.jsonl', 'hello\n')
  expect((await everlong(['memory', other])).exitCode).toBe(1)
})

test('--write refuses to write through a link beside the session, and says what to do', async () => {
  const { file } = write('linked')
  const elsewhere = sessionFolder()
  const link = join(folder.path, 'linked')
  symlinkSync(elsewhere.path, link)
  expect(await everlong(['memory', file, '--write'])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `everlong: no notes were written: ${link} is a symbolic link, and Everlong does not write through links. Remove the link and try again.\n`,
  })
  expect(readdirSync(elsewhere.path)).toEqual([])
  elsewhere.remove()
})
