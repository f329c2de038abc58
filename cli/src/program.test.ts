// Names and groups of commands: what old names do, and what a command decides from its arguments.
import { session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, sessionFolder } from './testing/harness.ts'
import { sampleSession } from './testing/sample-session.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const file = folder.write('sample.jsonl', sampleSession())
const small = folder.write('small.jsonl', session().user('hi').assistant('yes').records)
const env = { HOME: folder.path }

const renamed: readonly (readonly [old: string, now: string])[] = [
  ['epochs FILE', 'inspect --epochs FILE'],
  ['tree FILE --limit 5', 'inspect --tree FILE --limit 5'],
  ['stats FILE', 'inspect --stats FILE'],
  ['explain FILE --now 2026-03-02T10:30:00Z', 'context --explain FILE --now 2026-03-02T10:30:00Z'],
  ['fsck FILE', 'repair FILE'],
  ['status', 'install'],
  ['micro FILE --least 1000', 'micro FILE --min-freed 1000'],
  ['help tree', 'inspect --help'],
  ['help', '--help'],
]

test.for(renamed)('%s is %s', async ([old, now]) => {
  const words = (line: string) => line.replace('FILE', file).split(' ')
  for (const more of old.startsWith('help') ? [[]] : [[], ['--json']]) {
    const expected = await everlong([...words(now), ...more], { env })
    expect([expected.exitCode, expected.stderr]).toEqual([0, ''])
    expect(expected.stdout.length).toBeGreaterThan(50)
    expect(await everlong([...words(old), ...more], { env })).toEqual(expected)
  }
})

test('a path in place of a command is answered with the command to look at it', async () => {
  expect(await everlong([file])).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: `everlong: ${file} is not a command. To look at it: everlong inspect ${file}\n`,
  })
})

test('the options of inspect show different things, and none of them shows the overview', async () => {
  const screens = await Promise.all(
    [[], ['--epochs'], ['--tree'], ['--stats']].map(
      async (options) => (await everlong(['inspect', file, ...options])).stdout,
    ),
  )
  expect(new Set(screens).size).toBe(4)
})

test('inspect shows statistics of a folder and of several files', async () => {
  const statistics = await everlong(['inspect', '--stats', folder.path])
  expect(statistics.stdout).toContain('files     2,')
  expect(await everlong(['inspect', folder.path])).toEqual(statistics)
  const several = JSON.parse((await everlong(['inspect', file, small, '--json'])).stdout)
  expect([several.files, several.paths]).toEqual([2, [file, small]])
})

test.for([
  [['--epochs', file, small], 'the options --epochs and --tree take one file. See everlong inspect --help.'],
  [['--epochs', '--tree', file], "option '--epochs' cannot be used with option '--tree'. See everlong inspect --help."],
] as const)('inspect %s is a usage error', async ([words, message]) => {
  expect(await everlong(['inspect', ...words])).toEqual({ exitCode: 2, stdout: '', stderr: `everlong: ${message}\n` })
})

test('inspect --tree of a folder names the way to look at all of it', async () => {
  expect(await everlong(['inspect', '--tree', folder.path])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `everlong: ${folder.path} is a folder, and this command takes one transcript. For a whole folder: everlong inspect ${folder.path}\n`,
  })
})
