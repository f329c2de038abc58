import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { generateSession, serialize, session } from '../../testing/index.ts'
import { createRecallTool } from '../recall/tool.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { type Archive, openArchive } from './archive.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

const lines = [...generateSession({ seed: 5, turns: 6, boundaries: 2, subagents: 'inline' })].map(serialize)

/** Everything visible of an archive: all cards with their content, by several searches. */
function picture(archive: Archive): unknown {
  const searches = [{}, { words: 'the' }, { words: 'src', tool: 'Read' }, { epoch: 1 }, { words: 'const', path: 'src' }]
  const question = 'what is the result of running the tests of the session store?'
  return [
    ...searches.map((query) => archive.search({ ...query, order: 'newest', limit: 100 })),
    archive.search({ words: question, limit: 100 }),
  ]
}

function pictureAnew(path: string): unknown {
  const archive = openArchive(path, { folder: false })
  const seen = picture(archive)
  archive.close()
  return seen
}

function place(): { readonly path: string; readonly folder: string } {
  const folder = folders.next()
  mkdirSync(join(folder, 'sessions'))
  return { path: join(folder, 'sessions', 'session.jsonl'), folder: join(folder, 'cache') }
}

test('a file that grows, cut anywhere, is read on, and the outcome is that of reading it anew', () => {
  const bytes = Buffer.from(lines.slice(0, 60).join(''))
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { minLength: 1, maxLength: 4 }),
      (cuts) => {
        const { path, folder } = place()
        writeFileSync(path, '')
        const archive = openArchive(path, { folder })
        let from = 0
        for (const to of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
          appendFileSync(path, bytes.subarray(from, to))
          from = to
          archive.refresh()
        }
        expect(picture(archive)).toEqual(pictureAnew(path))
        archive.close()
      },
    ),
    { numRuns: 12 },
  )
})

test('a last line without a newline is found, and once it is ended, found once', () => {
  const { path, folder } = place()
  const text = session().user('first').user('a heron at the end').text
  writeFileSync(path, text.trimEnd())
  const archive = openArchive(path, { folder })
  const count = () => archive.search({ words: 'heron' }).matches.length
  const before = count()
  appendFileSync(path, `\n${session({ ids: (name) => `later-${name}` }).user('no bird').text}`)
  archive.refresh()
  expect([before, count(), archive.search({ words: 'bird' }).matches.length]).toEqual([1, 1, 1])
  archive.close()
})

test('a last record without a newline and without an id is found once, before and after it is ended', () => {
  const { path, folder } = place()
  const { uuid: _, ...record } = session().user('a heron at the end').records[0] ?? {}
  writeFileSync(path, session().user('first').text + serialize(record).trimEnd())
  const archive = openArchive(path, { folder })
  const counts = () => ({
    heron: archive.search({ words: 'heron' }).matches.length,
    all: archive.search({ order: 'newest', limit: 100 }).matches.length,
  })
  const seen = [counts()]
  appendFileSync(path, `\n${session({ ids: (name) => `later-${name}` }).user('no bird').text}`)
  archive.refresh()
  seen.push(counts())
  archive.close()
  expect(seen).toEqual([
    { heron: 1, all: 2 },
    { heron: 1, all: 3 },
  ])
})

test('what was indexed is found again in the cache, and the session folder stays as it was', () => {
  const { path, folder } = place()
  writeFileSync(path, lines.join(''))
  openArchive(path, { folder }).close()
  const progress: number[] = []
  const again = openArchive(path, { folder, onProgress: (done) => progress.push(done) })
  expect(progress).toEqual([])
  expect(picture(again)).toEqual(pictureAnew(path))
  again.close()
  expect(readdirSync(join(path, '..'))).toEqual(['session.jsonl'])
  expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test('a file that was replaced, shortened or rewritten in place is read anew', () => {
  const { path, folder } = place()
  writeFileSync(path, session().user('a heron').user('a crane').text)
  const archive = openArchive(path, { folder })
  const birds = () => ['heron', 'crane', 'egret'].map((words) => archive.search({ words }).matches.length)
  const seen = [birds()]
  writeFileSync(path, session().user('an egret').user('a crane').text)
  archive.refresh()
  seen.push(birds())
  truncateSync(path, readFileSync(path).indexOf(10) + 1)
  archive.refresh()
  seen.push(birds())
  rmSync(path)
  writeFileSync(path, session().user('a heron').text)
  archive.refresh()
  seen.push(birds())
  expect(seen).toEqual([
    [1, 1, 0],
    [0, 1, 1],
    [0, 0, 1],
    [1, 0, 0],
  ])
  archive.close()
})

test('the new text of a file that was replaced is found, whether the archive was open or not', () => {
  const { path, folder } = place()
  writeFileSync(path, session().user('a heron').user('a crane').text)
  const archive = openArchive(path, { folder })
  writeFileSync(path, session().user('an egret').user('a crane').text)
  archive.refresh()
  // Searched first, because a search for the old text would notice the change when it reads the record.
  expect(archive.search({ words: 'egret' }).matches.map(({ uuid }) => uuid)).toEqual(['u1'])
  archive.close()
  writeFileSync(path, session().user('a stork in the rain').user('a crane').user('a rail').text)
  const later = openArchive(path, { folder })
  expect(['stork', 'rail'].map((words) => later.search({ words }).matches.length)).toEqual([1, 1])
  later.close()
})

test('a last record without a newline and without an id is found once, before and after it is ended', () => {
  const { path, folder } = place()
  const message = { role: 'user', content: 'a heron' }
  const timestamp = '2026-03-02T10:00:00.000Z'
  writeFileSync(path, session().user('first').text + JSON.stringify({ type: 'user', timestamp, message }))
  const archive = openArchive(path, { folder })
  const seen = () => [archive.search({ words: 'heron' }).matches.length, archive.search({ limit: 100 }).matches.length]
  const before = seen()
  appendFileSync(path, `\n${session({ ids: (name) => `later-${name}` }).user('no bird').text}`)
  archive.refresh()
  expect([before, seen()]).toEqual([
    [1, 2],
    [1, 3],
  ])
  archive.close()
})

test('a record that cannot be indexed is told, now and later, and costs only itself', () => {
  const { path, folder } = place()
  const deep = `{"type":"user","uuid":"deep","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}}`
  const [first = '', second = ''] = session()
    .user('a heron')
    .user('a crane')
    .text.split(/(?<=\n)/)
  writeFileSync(path, `${first}${deep}\n${second}`)
  const seen = [1, 2].map(() => {
    const archive = openArchive(path, { folder })
    const found = ['heron', 'crane'].map((words) => archive.search({ words }).matches.length)
    const { complete, unreadable } = archive.refresh()
    const told = createRecallTool({ archive }).run({ query: 'crane' })
    const read = createRecallTool({ archive }).run({ read: 'deep' })
    archive.close()
    return {
      found,
      complete,
      lines: unreadable.map(({ line }) => line),
      told: told.text.split('\n')[0],
      read: read.isError,
    }
  })
  const told = `Not searched: ${path}, line 2 (Maximum call stack size exceeded).`
  const whole = { found: [1, 1], complete: true, lines: [2], told, read: true }
  expect(seen).toEqual([whole, whole])
  writeFileSync(path, first + second)
  const mended = openArchive(path, { folder })
  expect(mended.refresh().unreadable).toEqual([])
  mended.close()
})

test('a change that no mark shows is noticed when the record is read', () => {
  const { path, folder } = place()
  const filler = session({ ids: (name) => `filler-${name}` }).user('x'.repeat(9000)).text
  const middle = (id: string) => session({ ids: (name) => `${id}-${name}` }).user('a heron in the middle').text
  writeFileSync(path, filler + middle('old') + filler)
  const archive = openArchive(path, { folder })
  const { atime, mtime } = statSync(path)
  writeFileSync(path, filler + middle('new') + filler)
  utimesSync(path, atime, mtime)
  expect([archive.record('old-u1'), archive.record('new-u1')?.id]).toEqual([undefined, 'new-u1'])
  archive.close()
})

test('a session that is gone from a folder is gone from its archive, and a new one is in it', () => {
  const { path, folder } = place()
  const sessions = join(path, '..')
  writeFileSync(path, session().user('a heron').text)
  writeFileSync(join(sessions, 'other.jsonl'), session({ ids: (name) => `other-${name}` }).user('a crane').text)
  const archive = openArchive(sessions, { folder })
  const seen = [
    archive
      .search({})
      .matches.map(({ file }) => file)
      .toSorted(),
  ]
  rmSync(path)
  writeFileSync(join(sessions, 'third.jsonl'), session({ ids: (name) => `third-${name}` }).user('an egret').text)
  archive.refresh()
  seen.push(
    archive
      .search({})
      .matches.map(({ file }) => file)
      .toSorted(),
  )
  expect(seen).toEqual([
    ['other.jsonl', 'session.jsonl'],
    ['other.jsonl', 'third.jsonl'],
  ])
  archive.close()
})

test.each([
  ['is no database', (file: string) => writeFileSync(file, 'nothing of the kind '.repeat(500))],
  ['is cut short', (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2))],
  ['is empty', (file: string) => writeFileSync(file, '')],
  ['has garbage in its middle', spoilMiddle],
  ['has the tables of an older version', makeOlder],
])('a database that %s is made anew', (_, spoil) => {
  const { path, folder } = place()
  writeFileSync(path, lines.join(''))
  openArchive(path, { folder }).close()
  spoil(join(folder, readdirSync(folder)[0]!))
  const archive = openArchive(path, { folder })
  expect(picture(archive)).toEqual(pictureAnew(path))
  archive.close()
})

/** Damages pages from the second on, so that the first one, with the schema, stays intact. */
function spoilMiddle(file: string): void {
  const bytes = readFileSync(file)
  bytes.fill(0xa5, 4096)
  writeFileSync(file, bytes)
}

/** The state of the previous version: texts had no number in their file. */
function makeOlder(file: string): void {
  const sql = new DatabaseSync(file)
  sql.exec('ALTER TABLE pieces DROP COLUMN place; ALTER TABLE sources DROP COLUMN texts; PRAGMA user_version = 3')
  sql.close()
}

test('where the cache folder cannot be written, the archive is kept in memory', () => {
  const { path, folder } = place()
  writeFileSync(path, lines.join(''))
  writeFileSync(folder, 'a file where the folder would be')
  const archive = openArchive(path, { folder })
  expect(picture(archive)).toEqual(pictureAnew(path))
  archive.close()
})

test.skipIf(process.getuid?.() === 0)(
  'a folder without write permission is a reason for memory, not for failing',
  () => {
    const { path, folder } = place()
    writeFileSync(path, lines.join(''))
    mkdirSync(folder)
    chmodSync(folder, 0o500)
    const archive = openArchive(path, { folder })
    expect(picture(archive)).toEqual(pictureAnew(path))
    archive.close()
  },
)

test('when the time allowed is over, it says so, and reads on the next time', () => {
  const { path, folder } = place()
  writeFileSync(path, lines.join(''))
  const archive = openArchive(path, { folder, budgetMs: -1 })
  const { complete, bytesDone, bytesAll } = archive.refresh({ budgetMs: -1 })
  expect([complete, bytesDone, bytesAll]).toEqual([false, 0, statSync(path).size])
  expect([archive.search({}).matches, archive.refresh().complete]).toEqual([[], true])
  expect(picture(archive)).toEqual(pictureAnew(path))
  archive.close()
})

test('two processes that build the same archive at once both have all of it, and each entry once', async () => {
  const { path, folder } = place()
  writeFileSync(path, [...generateSession({ seed: 6, targetBytes: 6_000_000 })].map(serialize).join(''))
  const script = `
    import { openArchive } from ${JSON.stringify(join(import.meta.dirname, 'archive.ts'))}
    const archive = openArchive(${JSON.stringify(path)}, { folder: ${JSON.stringify(folder)} })
    const { matches } = archive.search({ limit: 100 })
    console.log(JSON.stringify(matches.map(({ id }) => id)))
    archive.close()`
  const runs = await Promise.all([1, 2, 3].map(() => outputOf(['--input-type=module', '--eval', script])))
  const progress: number[] = []
  const archive = openArchive(path, { folder, onProgress: (done) => progress.push(done) })
  expect(progress).toEqual([])
  expect(picture(archive)).toEqual(pictureAnew(path))
  const ids = archive.search({ limit: 100 }).matches.map(({ id }) => id)
  expect(runs.map((run) => JSON.parse(run) as unknown)).toEqual([ids, ids, ids])
  archive.close()
})

test('a process that is killed while it builds costs no more than its last step', async () => {
  const { path, folder } = place()
  writeFileSync(path, [...generateSession({ seed: 7, targetBytes: 6_000_000 })].map(serialize).join(''))
  const script = `
    import { openArchive } from ${JSON.stringify(join(import.meta.dirname, 'archive.ts'))}
    console.log('building')
    openArchive(${JSON.stringify(path)}, { folder: ${JSON.stringify(folder)} })`
  for (const afterMs of [0, 40, 150]) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    await pause(afterMs)
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await closed
  }
  const archive = openArchive(path, { folder })
  expect(picture(archive)).toEqual(pictureAnew(path))
  archive.close()
})

function outputOf(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(output))
  })
}
