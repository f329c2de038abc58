// What every command has in common: help, usage errors, files that cannot be read, the same figures on the screen and in JSON,
// and nothing written by a command that only looks.
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { columnsOf } from '@everlong/agent/render'
import { session } from 'everlong/internal/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandRow, commandPlace, commandRows, nameOf } from './testing/every-command.ts'
import { everlong } from './testing/harness.ts'

const place = commandPlace()
const cacheBefore = process.env.EVERLONG_CACHE_DIR
beforeAll(() => {
  // The index of a session is a cache, which commands that only look may write.
  process.env.EVERLONG_CACHE_DIR = `${place.folder}-cache`
})
afterAll(() => {
  rmSync(`${place.folder}-cache`, { recursive: true, force: true })
  if (cacheBefore === undefined) delete process.env.EVERLONG_CACHE_DIR
  else process.env.EVERLONG_CACHE_DIR = cacheBefore
  place.remove()
})

const names = [...new Set(commandRows.map(nameOf))]
const rows = commandRows.map((row) => [row.line, row] as const)
const reading = rows.filter(([, { input }]) => input !== 'none')
const oneLine = /^everlong: [^\n]+\n$/

describe('the command line', () => {
  test('of every command in the help is in the table', async () => {
    const listed = async (...words: readonly string[]) => {
      const { stdout } = await everlong([...words, '--help'])
      const found = [...stdout.matchAll(/^ {2}([a-z]+)(?: [[<].*?)?(?: {2,}|$)/gm)].map(([, name = '']) => name)
      return found.map((name) => [...words, name].join(' '))
    }
    const commands = (await listed()).filter((name) => name !== 'everlong')
    const all = [...commands.filter((name) => name !== 'edit'), ...(await listed('edit')), ...(await listed('gateway'))]
    expect(names.toSorted()).toEqual(all.toSorted())
  })

  test.for(names)('%s --help describes it, and does nothing else', async (name) => {
    const { exitCode, stdout, stderr } = await everlong([...name.split(' '), '--help'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout.startsWith(`Usage: everlong ${name}`)).toBe(true)
    expect(await everlong(['help', ...name.split(' ')])).toEqual({ exitCode, stdout, stderr })
  })

  test.for(rows)('%s with an unknown option is a usage error, and nothing happens', async ([, row]) => {
    await place.prepare(row)
    const before = place.contents()
    expect(await place.run([...place.words(row.line), '--nonsense'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `everlong: unknown option '--nonsense'. See everlong ${nameOf(row)} --help.\n`,
    })
    expect(place.contents()).toEqual(before)
  })

  test.for(reading.filter(([line]) => !line.startsWith('lost') && !line.startsWith('view')))(
    '%s without its arguments is a usage error',
    async ([, row]) => {
      const { exitCode, stdout, stderr } = await everlong(nameOf(row).split(' '))
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(
        /^everlong: missing required argument '(from|path|file)'\. See everlong [a-z ]+ --help\.\n$/,
      )
    },
  )

  test.for(rows.filter(([, { input }]) => input === 'file'))('%s takes no second file', async ([line, row]) => {
    await place.prepare(row)
    const before = place.contents()
    const { exitCode, stdout, stderr } = await place.run([...place.words(line), 'another.jsonl'])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(oneLine)
    expect(place.contents()).toEqual(before)
  })
})

test.for(['inspect FILE', 'inspect FILE --stats', 'lost FILE', 'view FILE --no-open'])(
  '%s reads every path, and names the second one, which is not there',
  async (line) => {
    await place.prepare({ line, input: 'path' })
    const { exitCode, stdout, stderr } = await place.run([...place.words(line), 'nowhere.jsonl'])
    expect(exitCode).toBe(1)
    expect(`${stdout}${stderr}`).toContain('nowhere.jsonl')
  },
)

/** Bad files, and what the message must say of each. */
const badFiles: readonly (readonly [string, (path: string) => void, RegExp])[] = [
  ['a file that does not exist', (path) => rmSync(path), / does not exist| no such file/],
  ['an empty file', (path) => writeFileSync(path, ''), / is empty\./],
  ['a file that is no transcript', (path) => writeFileSync(path, 'hello\n'), / does not look like a transcript/],
]

describe.each(badFiles)('%s', (_, make, message) => {
  test.for(reading.filter(([line]) => !line.startsWith('mcp')))(
    'is one clear line for %s, and nothing is written',
    async ([line, row]) => {
      await place.prepare(row)
      const words = place.words(line)
      make(place.file)
      const before = place.contents()
      const { exitCode, stdout, stderr } = await place.run(words)
      expect(exitCode).toBe(1)
      // `repair` also lists what it found.
      if (line !== 'repair FILE') expect(stdout).toBe('')
      expect(stderr).toMatch(oneLine)
      expect(stderr).toMatch(message)
      expect(stderr).toContain(place.file)
      expect(place.contents()).toEqual(before)
      if (row.hasJson === false) return
      const json = await place.run([...words, '--json'])
      expect({ exitCode: json.exitCode, stderr: json.stderr }).toEqual({ exitCode, stderr })
      if (json.stdout !== '') JSON.parse(json.stdout)
      expect(place.contents()).toEqual(before)
    },
  )
})

test.for(rows.filter(([, { input }]) => input === 'file'))('%s of a folder says what to do', async ([line, row]) => {
  await place.prepare(row)
  const words = place.words(line)
  rmSync(place.file)
  mkdirSync(place.file)
  const { exitCode, stdout, stderr } = await place.run(words)
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `everlong: ${place.file} is a folder, and this command takes one transcript. For a whole folder: everlong inspect ${place.file}\n`,
  })
})

describe('a second run', () => {
  test.for(reading)('of %s', async ([line, row]) => {
    await place.prepare(row)
    const before = place.contents()
    const words = place.words(line)
    const first = await place.run(words)
    const after = place.contents()
    expect(first).toMatchObject({ exitCode: 0 })
    expectWritten(row, before, after)
    const second = await place.run(words)
    if (row.again) {
      expect(second.exitCode).toBe(row.again.exitCode)
      expect(second.stderr).toMatch(row.again.stderr)
      expect(place.contents()).toEqual(after)
    } else if (row.writes === undefined) {
      expect(second).toEqual(first)
      expect(place.contents()).toEqual(after)
    } else {
      expect(second.exitCode).toBe(0)
    }
  })
})

/** What was in the session stays; only what the row names is new. */
function expectWritten(
  { writes }: CommandRow,
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): void {
  const session = 'sessions/session.jsonl'
  const isNew = (path: string) => !Object.hasOwn(before, path)
  const added = Object.keys(after).filter(isNew)
  expect(Object.keys(before).filter((path) => !Object.hasOwn(after, path))).toEqual([])
  expect(after[session]?.startsWith(before[session] ?? '')).toBe(true)
  if (writes === 'session') expect(after[session]?.length).toBeGreaterThan(before[session]?.length ?? 0)
  else expect(after[session]).toBe(before[session])
  if (writes === undefined) expect(added).toEqual([])
  if (writes === 'new') expect(added.filter((path) => !path.startsWith('new'))).toEqual([])
  if (writes === 'new' || writes === 'beside') expect(added).not.toEqual([])
  for (const path of added) expect(statSync(join(dirname(place.file), '..', path)).mode & 0o077).toBe(0)
}

describe('JSON', () => {
  test.for(reading.filter(([, { hasJson }]) => hasJson !== false))(
    'of %s has every figure of the screen, and the same effect',
    async ([line, row]) => {
      await place.prepare(row)
      const screen = await place.run(place.words(line))
      const written = Object.keys(place.contents())
      await place.prepare(row)
      const json = await place.run([...place.words(line), '--json'])
      expect({ exitCode: json.exitCode, stderr: json.stderr }).toEqual({ exitCode: 0, stderr: screen.stderr })
      expect(Object.keys(place.contents())).toEqual(written)
      JSON.parse(json.stdout)
      const known = new Set(figures(json.stdout))
      const unknown = figures(screen.stdout).filter((figure) => !known.has(figure))
      const computed = (row.computed ?? []).map((figure) => figure.replaceAll(',', ''))
      expect([...new Set(unknown)].toSorted()).toEqual(computed.toSorted())
    },
  )
})

/** Letters and numbers of two columns, marks of none, and words that are longer than a line. */
const wide = '会話の要約を書く👩‍💻 e\u0301te\u0301 한국어 '
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not get through
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const evil = `\u001b]0;owned\u0007\u001b[31mred\u001b[2J\u009b31m \u202eesrever\u202c \u2066iso\u2069 bell\u0007 back\b\r\ndone\u007f`

/** A session with a text in every place that a command shows. */
function sessionOf(text: string): string {
  return session({ sessionId: `id${text}`, style: '2.1-late' })
    .user(`Never touch the limiter. ${text}`, { fields: { version: `9${text}`, gitBranch: text } })
    .assistant([{ type: 'thinking', thinking: text, signature: '' }], { model: `model${text}` })
    .toolUse('t1', `Read${text}`, { file_path: text }, { model: `model${text}`, tokens: { input: 500, output: 500 } })
    .toolResult('t1', text.repeat(50), { isError: true })
    .boundary({ metadata: { trigger: `trigger${text}` } })
    .summary(text)
    .attachment(`kind${text}`, { displayPath: text, content: text })
    .toolUse('t2', 'Read', { file_path: text }, { model: `model${text}` })
    .toolResult('t2', text)
    .assistant(`The limiter is done. ${text}`, { model: `model${text}` })
    .user(`And the limiter? ${text}`)
    .user('orphan', { parent: `parent${text}` }).text
}

describe('a screen', () => {
  test.for(reading)('of %s never steers the terminal, and neither does its JSON', async ([line, row]) => {
    const text = sessionOf(evil)
    for (const more of row.hasJson === false ? [[]] : [[], ['--json']]) {
      await place.prepare(row, text)
      const { stdout, stderr } = await place.run([...place.words(line), ...more])
      expect(controls.exec(stdout + stderr)?.index).toBe(undefined)
    }
  })

  // `handoff FILE` prints a document, whose lines stay as they are.
  test.for(reading.filter(([line]) => line !== 'handoff FILE'))(
    'of %s fits its terminal, with letters of two columns',
    async ([line, row]) => {
      const text = sessionOf(wide)
      for (const columns of [20, 40, 80, 200]) {
        await place.prepare(row, text)
        const { stdout } = await place.run(place.words(line), { isTTY: true, columns, env: { NO_COLOR: '1' } })
        const tooWide = stdout.split('\n').filter((shown) => columnsOf(shown) > columns && !isCopied(shown))
        expect({ columns, tooWide }).toEqual({ columns, tooWide: [] })
      }
    },
  )
})

/** Words that are longer than a line, such as paths and commands, are not cut, so that they can be copied. */
function isCopied(shown: string): boolean {
  return /^[\s-]*\S+\s*$/.test(shown) || shown.includes('everlong ') || shown.includes(place.folder)
}

/** Whole numbers of two digits or more that are not rounded, a share, or part of a word, time or path. */
function figures(text: string): readonly string[] {
  const plain = text.replaceAll(/(?<=\d),(?=\d{3})/g, '')
  return (plain.match(/(?<![\w.:/-])\d{2,}(?![\w:/-]|\.\d| ?%| [kM]?B\b)/g) ?? []).map(String)
}
