// The demonstration as a whole, against the simulator over HTTP: what it prints, and what the transcript says about it.
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import {
  blocksOf,
  isToolResult,
  isToolUse,
  type JsonObject,
  objectAt,
  readBoundary,
  readEdit,
  textOf,
} from 'everlong/internal'
import { fsck, openMemory, readTranscript } from 'everlong/internal/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everlong, type RunOptions, sessionFolder } from '../../testing/harness.ts'
import { wanted } from './acts.ts'
import { rule } from './words.ts'

const folder = sessionFolder()
afterAll(folder.remove)

/** With ids that are counted, and always in a folder of the same name: the path is part of what a model sees. */
async function demo(options: RunOptions = {}, ...words: readonly string[]) {
  let ids = 0
  const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
  const kept = join(folder.path, 'kept')
  rmSync(kept, { recursive: true, force: true })
  const ran = await everlong(['demo', '--folder', kept, ...words], { newId, ...options })
  return { ...ran, transcript: join(kept, 'session.jsonl') }
}

let plain: Awaited<ReturnType<typeof demo>>
beforeAll(async () => {
  const ran = await demo()
  renameSync(dirname(ran.transcript), join(folder.path, 'first'))
  plain = { ...ran, transcript: join(folder.path, 'first', 'session.jsonl') }
}, 60_000)

function recordsOf(transcript: string): readonly JsonObject[] {
  const lines = readFileSync(transcript, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}

test('without a terminal it is plain lines, ends by itself with exit code 0, and shows all six', async () => {
  const { exitCode, stdout, stderr } = plain
  expect([exitCode, stderr]).toEqual([0, ''])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  expect(/[\u001b\r]/.exec(stdout)).toBe(null)
  expect(wanted.filter((name) => !stdout.includes(`● ${name}: `))).toEqual([])
  expect(stdout.match(/● trouble|not seen|not in the context/)).toBe(null)
  expect(stdout.split('\n').filter((line) => [...line].length > 80 && !line.includes('everlong'))).toEqual([])
})

test('the transcript tells the same story: each of the six happened in it', async () => {
  const { transcript } = plain
  const records = recordsOf(transcript)
  const edits = records.flatMap((record) => readEdit(record) ?? [])
  const boundaries = records.filter((record) => record.type === 'system' && readBoundary(record))
  const cleared = edits.filter(({ type, mechanism }) => type === 'clear-results' && mechanism === 'micro-by-size')
  expect(cleared.length).toBeGreaterThan(0)
  expect(
    openMemory(transcript)
      .notes()
      ?.some(({ body }) => body.includes(rule)),
  ).toBe(true)
  expect(boundaries.map((record) => objectAt(record, 'compactMetadata')?.trigger)).toEqual(['auto', 'manual'])
  const restored = records.filter(({ type }) => type === 'attachment')
  expect(restored.length).toBeGreaterThan(0)
  expect(edits.at(-1)).toMatchObject({ type: 'undo', uuid: boundaries.at(-1)?.uuid })
})

test('what the agent recalled had left the context by then, and is what is in the transcript', async () => {
  const { transcript, stdout } = plain
  const blocks = recordsOf(transcript).flatMap((record) => blocksOf(objectAt(record, 'message')?.content))
  const call = blocks.filter(isToolUse).find(({ name }) => name === 'recall')
  const found = blocks.filter(isToolResult).find(({ tool_use_id }) => tool_use_id === call?.id)
  expect(textOf(found?.content)).toContain('Received:')
  expect(stdout).toContain('found in a message that is no longer in the context')
})

test('the file is sound, nobody holds it any more, and the rule is in the context it would continue with', async () => {
  const { transcript } = plain
  const { findings } = fsck(transcript)
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([])
  const texts = readTranscript(transcript).view.messages.map(({ content }) => textOf(content))
  expect(texts.some((text) => text.includes(rule))).toBe(true)
})

/** How many files fit depends on the tokens of the paths of temporary files, which are random. */
const restoration = /(● restoration:)[^●]*?restored,\s+as\s+they\s+are\s+now/g
const masked = (stdout: string) =>
  stdout.replaceAll(/127\.0\.0\.1:\d+/g, '#').replaceAll(restoration, '$1 # files restored, as they are now')

test('it is the same each time, but for its port', async () => {
  const again = await demo()
  expect(masked(again.stdout)).toBe(masked(plain.stdout))
})

test('the screen of demo', async () => {
  // How many tokens a path has depends on where this machine keeps its temporary files.
  const still = masked(plain.stdout).replaceAll(join(folder.path, 'kept'), 'KEPT').replaceAll(/[█░]+/g, '████░░░░')
  await expect(still.replaceAll(/\d[\d,.]*(?=\D)/g, '#')).toMatchFileSnapshot('../../screens/demo.txt')
})

const wipe = '\u001b[1G\u001b[2K'

test('on a terminal one line changes in place, and what stays is the same', async () => {
  const { exitCode, stdout } = await demo({ isTTY: true, env: { TERM: 'xterm-256color' } }, '--fast')
  const left = stdout.split(wipe).map((part, at, parts) => (at === parts.length - 1 ? part : withoutLast(part)))
  expect(exitCode).toBe(0)
  expect(masked(stripVTControlCharacters(left.join('')))).toBe(masked(plain.stdout))
})

function withoutLast(part: string): string {
  return part.slice(0, part.lastIndexOf('\n') + 1)
}

test.for([24, 44])('it fits a terminal of %i columns', async (columns) => {
  const { exitCode, stdout } = await demo({ isTTY: true, columns, env: { NO_COLOR: '1', TERM: 'xterm' } }, '--fast')
  const parts = stdout.split(wipe)
  const live = parts.slice(0, -1).map((part) => part.slice(part.lastIndexOf('\n') + 1))
  const lines = parts.flatMap((part) => withoutLast(part).split('\n')).filter((line) => !line.includes(folder.path))
  expect(exitCode).toBe(0)
  expect(live.filter((line) => [...line].length >= columns)).toEqual([])
  expect(lines.filter((line) => [...line].length > columns && line.trim().includes(' '))).toEqual([])
})

test('a folder that holds a session is left alone', async () => {
  const place = join(folder.path, 'first')
  expect(await everlong(['demo', '--folder', place])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `everlong: ${join(place, 'session.jsonl')} is there already and is left alone. Choose another --folder.\n`,
  })
})

test('a folder that cannot be had is one clear line', async () => {
  const [file, below] = [folder.writeBytes('a-file', ''), join(folder.path, 'not', 'there')]
  expect([
    await everlong(['demo', '--folder', file]),
    await everlong(['demo', '--folder', join(file, 'below')]),
    await everlong(['demo', '--folder', below]),
  ]).toEqual([
    { exitCode: 1, stdout: '', stderr: `everlong: ${file} is not a folder. Choose another --folder.\n` },
    {
      exitCode: 1,
      stdout: '',
      stderr: `everlong: ${join(file, 'below')} cannot be written: part of the path is not a folder. Check the name.\n`,
    },
    {
      exitCode: 1,
      stdout: '',
      stderr: `everlong: the folder ${join(folder.path, 'not')} does not exist. Create it first, or choose another one.\n`,
    },
  ])
})

test.runIf(existsSync('/proc/self'))('a folder that the system allows nobody to make is refused at once', async () => {
  expect(await everlong(['demo', '--folder', '/proc/everlong'])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'everlong: /proc/everlong cannot be written: no such file or folder. Check the name.\n',
  })
})

test.for([
  ['without a terminal', {}, 'Grep'],
  ['on a terminal, at the pace of a reader', { isTTY: true, env: { NO_COLOR: '1', TERM: 'xterm' } }, 'TodoWrite'],
] as const)(
  'stopped in the middle %s it says so, exits with 0 and leaves a sound transcript',
  async ([, how, word]) => {
    const { exitCode, stdout, transcript } = await demo({ ...how, stopsWhen: (text) => text.includes(word) })
    expect([exitCode, stdout.includes('Stopped')]).toEqual([0, true])
    expect(fsck(transcript).findings.filter(({ severity }) => severity !== 'note')).toEqual([])
  },
)
