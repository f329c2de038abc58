import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noPosition } from '../../core/ports/session-store.ts'
import type { SessionFiles, SessionFilesInput } from '../../core/session/host.ts'
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
  files.onMessage({ role: 'assistant', origin: 'assistant', content: call }, {}, { isLive })
  const result = [{ type: 'tool_result', tool_use_id: id, content: text }]
  files.onMessage({ role: 'user', origin: 'tool-result', content: result }, {}, { isLive })
}

const open = (more: Partial<SessionFilesInput> = {}) =>
  sessionFiles({ entries: [], cwd: root, permitted: () => undefined, ...more })
const shown = '1\tconst first = 1\n2\tconst second = 2'
const nothingShown = 'it no longer contains anything this session was shown: read it again'
const outside = { type: 'refused', why: 'it is outside the workspace', isOutside: true }

test('a file that nothing showed is not read, and one that is gone is', async () => {
  const { files } = open()
  expect(await files.read('a.ts')).toEqual({ type: 'refused', why: 'nothing in this session shows what is in it' })
  expect(await files.read('none.ts')).toEqual({ type: 'missing' })
  expect(await files.read(join(folder, 'key'))).toEqual(outside)
})

test('a session belongs to the machine that has its latest folder', async () => {
  const gone = join(folder, 'gone')
  const whyNot = async (...folders: readonly string[]) => {
    const entries = folders.map((cwd) => ({ record: { cwd }, position: noPosition }))
    const found = await open({ entries }).files.read('a.ts')
    return found.type === 'refused' ? found.why : found.type
  }
  expect(await whyNot(gone, root)).toBe('nothing in this session shows what is in it')
  expect(await whyNot(root, gone)).toBe('the transcript never shows what is in it')
})

test('a file comes back if a result showed lines of it, inside and outside', async () => {
  const session = open()
  const paths = [join(root, 'a.ts'), join(folder, 'key'), join(root, 'link')] as const
  for (const path of paths) read(session, path, '1\tsomething else', true)
  expect(await session.files.read('a.ts')).toEqual({ type: 'refused', why: nothingShown })
  expect(await session.files.read(paths[1])).toEqual(outside)
  expect(await session.files.read(paths[2])).toEqual(outside)
  read(session, paths[0], shown, true)
  for (const path of paths.slice(1)) read(session, path, '1\tthe key of the house', true)
  expect(await session.files.read('a.ts')).toEqual({ type: 'text', text: 'const first = 1\nconst second = 2\n' })
  expect(await session.files.read(paths[1])).toEqual({ type: 'text', text: 'the key of the house\n' })
  expect(await session.files.read(paths[2])).toEqual({ type: 'text', text: 'the key of the house\n' })
})

describe('of a file that a result showed in part', () => {
  const text = [
    'const host = "db.example.com"',
    'const key = "Zq81-0042"',
    'if (host) {',
    '  connect(host)',
    '}',
    '',
  ].join('\n')
  const numbered = (lines: readonly string[], from = 1) => lines.map((line, at) => `${from + at}\t${line}`).join('\n')
  const redact = (given: string) => given.replaceAll('Zq81-0042', '[redacted]')

  test('a line that was shown redacted comes back that way, and the others as they are', async () => {
    const session = open()
    writeFileSync(join(root, 'a.ts'), text)
    read(session, 'a.ts', numbered(redact(text).trimEnd().split('\n')), true)
    const part = { lines: [[1, 6]], differs: [[2, 2]] }
    expect(await session.files.read('a.ts')).toEqual({ type: 'text', text: redact(text), part })
    // A line that somebody inserted above moves the others.
    writeFileSync(join(root, 'a.ts'), `// by hand\n${text}`)
    expect(await session.files.read('a.ts')).toEqual({
      type: 'text',
      text: `\n${text.replace('const key = "Zq81-0042"', '')}`,
      part: {
        lines: [
          [2, 2],
          [4, 7],
        ],
        differs: [],
      },
    })
  })

  test('the host’s own redaction gives back all of it, with what changed since', async () => {
    const session = open({ redact })
    writeFileSync(join(root, 'a.ts'), text)
    read(session, 'a.ts', numbered(redact(text).split('\n').slice(0, 2)), true)
    writeFileSync(join(root, 'a.ts'), `// by hand\n${text}`)
    expect(await session.files.read('a.ts')).toEqual({ type: 'text', text: `// by hand\n${redact(text)}` })
  })

  test('a redaction that breaks gives back nothing', async () => {
    const session = open({ redact: () => undefined, permitted: () => 'anywhere' })
    const why = 'its secrets could not be redacted'
    expect(await session.files.read('a.ts')).toEqual({ type: 'refused', why })
  })

  test('the client’s record of the result shows no more than the result', async () => {
    const session = open()
    const path = join(root, 'a.ts')
    writeFileSync(path, text)
    const call = [{ type: 'tool_use', id: 'r', name: 'Read', input: { file_path: path } }]
    session.onMessage({ role: 'assistant', origin: 'assistant', content: call }, {}, { isLive: true })
    const content = numbered(redact(text).trimEnd().split('\n'))
    const record = { toolUseResult: { file: { filePath: path, content: text, startLine: 1, totalLines: 5 } } }
    const result = [{ type: 'tool_result', tool_use_id: 'r', content }]
    session.onMessage({ role: 'user', origin: 'tool-result', content: result }, record, { isLive: true })
    const edit = { file_path: path, old_string: 'if (host)', new_string: 'if (isReady(host))' }
    const change = [{ type: 'tool_use', id: 'e', name: 'Edit', input: edit }]
    session.onMessage({ role: 'assistant', origin: 'assistant', content: change }, {}, { isLive: true })
    const done = [{ type: 'tool_result', tool_use_id: 'e', content: 'ok' }]
    const original = { toolUseResult: { filePath: path, originalFile: text } }
    session.onMessage({ role: 'user', origin: 'tool-result', content: done }, original, { isLive: true })
    writeFileSync(path, text.replace('if (host)', 'if (isReady(host))'))
    expect(await session.files.read(path)).toMatchObject({
      text: redact(text).replace('if (host)', 'if (isReady(host))'),
      part: { differs: [[2, 2]] },
    })
  })

  test('a rule file that a result showed redacted stays out, and any other comes from the disk', async () => {
    const session = open({ permitted: () => 'inside' })
    writeFileSync(join(root, 'AGENTS.md'), text)
    expect(await session.files.read('AGENTS.md')).toEqual({ type: 'text', text })
    read(session, 'AGENTS.md', numbered(redact(text).trimEnd().split('\n')), true)
    const why = 'it differs from what this session was shown: read it again'
    expect(await session.files.read('AGENTS.md')).toEqual({ type: 'refused', why })
  })
})

// A tool may replace a secret with anything, and may do so only in some results of a session.
test('no secret that the results left out comes back, whatever happens to the file', async () => {
  const line = fc.oneof(
    fc.constantFrom('', '}', '  return', 'const name = "value"', '# a comment about this'),
    fc.nat(30).map((at) => `const value${at} = "S3CRET-${at}-"`),
    fc.nat(30).map((at) => `S3CRET-${at}-`),
  )
  const lines = fc.array(line, { minLength: 1, maxLength: 12 })
  const step = fc.oneof(
    fc.record({ type: fc.constant('read'), from: fc.nat(6), count: fc.nat(12), isNumbered: fc.boolean() }),
    fc.record({ type: fc.constant('write'), lines }),
    fc.record({ type: fc.constant('insert'), at: fc.nat(12), lines }),
  )
  const hides = fc.constantFrom('[redacted]', '***', '', '\u2588\u2588', 'const name = "value"')
  await fc.assert(
    fc.asyncProperty(lines, fc.array(step, { minLength: 1, maxLength: 8 }), hides, async (first, steps, mark) => {
      const session = open()
      let now = first
      writeFileSync(join(root, 'a.ts'), now.join('\n'))
      for (const given of steps) {
        if ('from' in given) {
          const part = now.slice(given.from, given.from + given.count)
          const shown = part.map((each) => each.replace(/S3CRET-\d+-/g, mark))
          const text = given.isNumbered ? shown.map((each, at) => `${given.from + at + 1}\t${each}`) : shown
          read(session, 'a.ts', text.join('\n'), true)
        } else {
          now = 'at' in given ? now.toSpliced(given.at, 0, ...given.lines) : given.lines
          writeFileSync(join(root, 'a.ts'), now.join('\n'))
        }
        expect(JSON.stringify(await session.files.read('a.ts'))).not.toContain('S3CRET')
      }
    }),
  )
})

test('a refusal without an error flag shows nothing', async () => {
  const session = open()
  read(session, join(root, 'a.ts'), 'You may not read this.', true)
  expect(await session.files.read(join(root, 'a.ts'))).toEqual({ type: 'refused', why: nothingShown })
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
  session.onMessage({ role: 'assistant', origin: 'assistant', content: call }, {}, { isLive: false })
  const result = [{ type: 'tool_result', tool_use_id: 'p', content: '2\tconst second = 2' }]
  const record = { toolUseResult: { file: account } }
  session.onMessage({ role: 'user', origin: 'tool-result', content: result }, record, { isLive: false })
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
