import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { openArchive } from './archive.ts'

const folders = temporaryFolders()
const folder = folders.next()
const path = join(folder, 'session.jsonl')
writeFileSync(path, session().user('a heron').toolUse('t1', 'Bash').toolResult('t1', 'secret').text)
writeFileSync(join(folder, 'outside.txt'), 'not for anybody')
mkdirSync(join(folder, 'session', 'tool-results'), { recursive: true })
symlinkSync(join(folder, 'outside.txt'), join(folder, 'session', 'tool-results', 'link.txt'))
const archive = openArchive(path, { folder: false })
afterAll(() => {
  archive.close()
  folders.remove()
})

const hostile = [
  '../outside.txt',
  '../../../../etc/passwd',
  'session/tool-results/link',
  'link',
  'outside',
  "' OR 1=1 --",
  "u1'; DROP TABLE entries; --",
  'u1\0',
  '%',
  '_1',
  '*',
  'line-1@../outside.txt',
  'line-1@/etc/passwd',
  'line-999999999999@session.jsonl',
  'line-1.999999@session.jsonl',
  'line-1e3',
  'u1#99',
  'u1#0',
  '__proto__',
  '\ud83d',
  'x'.repeat(1_000_000),
  '',
]

test('ids made to lead elsewhere lead nowhere', () => {
  for (const id of hostile) {
    const found = [archive.record(id), archive.toolResult(id), archive.message(id), archive.read(id)]
    expect(found, id.slice(0, 40)).toEqual([undefined, undefined, [], undefined])
  }
})

test('whatever is asked for, nothing throws, and the archive is as it was', () => {
  const before = archive.search({ limit: 100 })
  const text = fc.oneof(fc.constantFrom(...hostile.filter((id) => id.length < 1000)), fc.string({ unit: 'binary' }))
  const query = fc.record(
    {
      words: text,
      tool: text,
      path: text,
      epoch: fc.double(),
      since: fc.double(),
      until: fc.double(),
      limit: fc.double(),
      order: fc.constantFrom('best' as const, 'newest' as const),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(query, text, (asked, id) => {
      archive.search(asked)
      archive.read(id)
      archive.record(id)
    }),
    { numRuns: 300 },
  )
  expect(archive.search({ limit: 100 })).toEqual(before)
})

test('a text that is one unbroken run of megabytes costs the other texts of its folder nothing', () => {
  const runs = ['a', ' ', 'aB-']
  const sessions = folders.next()
  for (const [at, unit] of runs.entries()) {
    const text = session({ ids: (name) => `${name}-${at}` }).user(`walrus ${unit.repeat(7e6 / unit.length)} end`).text
    writeFileSync(join(sessions, `${at}.jsonl`), text)
  }
  writeFileSync(join(sessions, 'other.jsonl'), session().user('a walrus').text)
  writeFileSync(
    join(sessions, 'blank.jsonl'),
    `${session({ ids: (name) => `b-${name}` }).user('no bird').text}${' '.repeat(7e6)}`,
  )
  const whole = openArchive(sessions, { folder: false })
  expect(whole.search({ words: 'walrus', limit: 100 }).matches).toHaveLength(runs.length + 1)
  expect(whole.search({ words: '"walrus end"' }).matches).toHaveLength(runs.length)
  expect(whole.refresh()).toMatchObject({ complete: true, unreadable: [] })
  whole.close()
})

test('a pattern that would make others slow is answered at once', () => {
  const slow = archive.search({ path: `${'*a'.repeat(2000)}b`, words: `${'a*'.repeat(3000)} "${'"'.repeat(3000)}` })
  expect(slow.matches).toEqual([])
})
