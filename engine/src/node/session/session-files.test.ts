import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SessionFiles, SessionFilesInput } from '../../core/session/platform.ts'
import { sessionFiles } from './session-files.ts'

let folder: string
let root: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-session-files-'))
  root = join(folder, 'work')
  mkdirSync(root)
  writeFileSync(join(root, 'a.ts'), 'const first = 1\nconst second = 2\n')
  writeFileSync(join(folder, 'key'), 'the key of the house\n')
  symlinkSync(join(folder, 'key'), join(root, 'link'))
})
afterEach(() => rmSync(folder, { recursive: true }))

let count = 0

function read(files: SessionFiles, path: string, text: string, isLive: boolean): void {
  const id = `t${count++}`
  const call = [{ type: 'tool_use', id, name: 'Read', input: { file_path: path } }]
  files.see({ role: 'assistant', origin: 'assistant', content: call }, {}, { isLive })
  const result = [{ type: 'tool_result', tool_use_id: id, content: text }]
  files.see({ role: 'user', origin: 'tool-result', content: result }, {}, { isLive })
}

const open = (more: Partial<SessionFilesInput> = {}) =>
  sessionFiles({ entries: [], cwd: root, permitted: () => undefined, ...more })
const shown = '1\tconst first = 1\n2\tconst second = 2'
const outside = { type: 'refused', why: 'it is outside the workspace', isOutside: true }

test('a file that nothing showed is not read, and one that is gone is', async () => {
  const { files } = open()
  expect(await files.read('a.ts')).toEqual({ type: 'refused', why: 'nothing in this session shows what is in it' })
  expect(await files.read('none.ts')).toEqual({ type: 'missing' })
  expect(await files.read(join(folder, 'key'))).toEqual(outside)
})

test('what the open session was shown is read as it is now, outside only where the text is the same', async () => {
  const session = open()
  read(session, join(root, 'a.ts'), '1\tconst old = 0', true)
  read(session, join(folder, 'key'), '1\tsomething else', true)
  read(session, join(root, 'link'), '1\tsomething else', true)
  expect(await session.files.read('a.ts')).toMatchObject({ type: 'text', text: 'const first = 1\nconst second = 2\n' })
  expect(await session.files.read(join(folder, 'key'))).toEqual(outside)
  expect(await session.files.read(join(root, 'link'))).toEqual(outside)
  read(session, join(folder, 'key'), '1\tthe key of the house', true)
  read(session, join(root, 'link'), '1\tthe key of the house', true)
  expect(await session.files.read(join(folder, 'key'))).toEqual({ type: 'text', text: 'the key of the house\n' })
  expect(await session.files.read(join(root, 'link'))).toEqual({ type: 'text', text: 'the key of the house\n' })
})

test('a refusal without an error flag shows nothing', async () => {
  const session = open()
  read(session, join(root, 'a.ts'), 'You may not read this.', true)
  const why = 'it no longer contains anything this session was shown: read it again'
  expect(await session.files.read(join(root, 'a.ts'))).toEqual({ type: 'refused', why })
})

test('of a transcript that was opened, no more comes back than it holds itself, and only while it is true', async () => {
  const session = open()
  read(session, join(root, 'a.ts'), '1\tguess', false)
  read(session, join(folder, 'key'), '1\tguess', false)
  const why = 'it has changed since the transcript showed it: read it again'
  expect(await session.files.read(join(root, 'a.ts'))).toEqual({ type: 'refused', why })
  expect(await session.files.read(join(folder, 'key'))).toEqual({ ...outside, lastShown: 'guess' })
  read(session, join(root, 'a.ts'), shown, false)
  expect(await session.files.read(join(root, 'a.ts'))).toEqual({
    type: 'text',
    text: 'const first = 1\nconst second = 2\n',
  })
  writeFileSync(join(root, 'a.ts'), 'const first = 1\nconst second = 2\nconst secret = 3\n')
  expect(await session.files.read(join(root, 'a.ts'))).toEqual({ type: 'refused', why })
})

test('of a part that a transcript showed, that part alone comes back', async () => {
  const session = open()
  const account = {
    filePath: join(root, 'a.ts'),
    content: 'const second = 2',
    startLine: 2,
    numLines: 1,
    totalLines: 2,
  }
  const call = [{ type: 'tool_use', id: 'p', name: 'Read', input: { file_path: join(root, 'a.ts') } }]
  session.see({ role: 'assistant', origin: 'assistant', content: call }, {}, { isLive: false })
  const result = [{ type: 'tool_result', tool_use_id: 'p', content: '2\tconst second = 2' }]
  const record = { toolUseResult: { file: account } }
  session.see({ role: 'user', origin: 'tool-result', content: result }, record, { isLive: false })
  expect(await session.files.read(join(root, 'a.ts'))).toEqual({
    type: 'text',
    text: '[lines 1 to 1 were never shown]\nconst second = 2',
  })
})

test('what the host names is read anywhere; rules beside the files at work inside the workspace only', async () => {
  const key = join(folder, 'key')
  const anywhere = open({ permitted: (path) => (path === key ? 'anywhere' : undefined) })
  expect(await anywhere.files.read(key)).toEqual({ type: 'text', text: 'the key of the house\n' })
  const inside = open({ permitted: () => 'inside' })
  expect(await inside.files.read('a.ts')).toMatchObject({ type: 'text' })
  expect(await inside.files.read(key)).toEqual(outside)
  expect(await inside.files.read('link')).toEqual(outside)
})

test('the host’s own files come before all others', async () => {
  const given = { read: async () => ({ type: 'text', text: 'from the host' }) as const }
  expect(await open({ given }).files.read('/anything')).toEqual({ type: 'text', text: 'from the host' })
})
