import { chmodSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineSettings } from 'everlong'
import { describe, expect, test } from 'vitest'
import { benches } from '../testing/with-bench.ts'

const setBench = benches()
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\tline ${from + at}`).join('\n')
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')

describe('Read', () => {
  test('shows a file with line numbers, without asking', async () => {
    const bench = await setBench()
    bench.write('src/a.ts', 'const a = 1\r\n\nconst b = 2\n')
    const output = await bench.call('Read', { file_path: 'src/a.ts' })
    expect(output).toEqual({
      content: '1\tconst a = 1\n2\t\n3\tconst b = 2',
      details: {
        type: 'text',
        file: { filePath: join(bench.folder, 'src/a.ts'), startLine: 1, numLines: 3, totalLines: 3 },
        fileState: { path: join(bench.folder, 'src/a.ts'), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    })
    expect(bench.asked).toEqual([])
  })

  test('shows a range, says what is left, and refuses one beyond the end', async () => {
    const bench = await setBench()
    bench.write('a.txt', lines(20))
    expect(await bench.say('Read', { file_path: 'a.txt', offset: 18 })).toBe(numbered(18, 20))
    expect(await bench.say('Read', { file_path: 'a.txt', offset: 3, limit: 2 })).toBe(
      `${numbered(3, 4)}\n\n[truncated: lines 3 to 4 of 20; continue with offset 5]`,
    )
    expect(await bench.say('Read', { file_path: 'a.txt', offset: 21 })).toBe(
      'ERROR: a.txt has 20 lines: there is no line 21.',
    )
  })

  test('cuts a long file at 2,000 lines and a long line at 2,000 characters', async () => {
    const bench = await setBench()
    bench.write('long.txt', lines(2_500))
    bench.write('wide.txt', 'x'.repeat(3_000))
    const text = await bench.say('Read', { file_path: 'long.txt' })
    expect(text.endsWith('2000\tline 2000\n\n[truncated: lines 1 to 2000 of 2500; continue with offset 2001]')).toBe(
      true,
    )
    expect(await bench.say('Read', { file_path: 'wide.txt' })).toBe(`1\t${'x'.repeat(2_000)}… [1000 more characters]`)
  })

  test('refuses a large file as a whole, and reads a part of it', async () => {
    const bench = await setBench()
    bench.write('large.txt', lines(40_000))
    expect(await bench.say('Read', { file_path: 'large.txt' })).toBe(
      'ERROR: large.txt has 418.8 KB, too much to read at once. Search it with Grep, or read a part of it with offset and limit.',
    )
    expect(await bench.say('Read', { file_path: 'large.txt', offset: 39_999 })).toBe(numbered(39_999, 40_000))
  })

  test('shows an image, and names a binary file, a folder, a pipe and a file that is not there', async () => {
    const bench = await setBench()
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
    writeFileSync(join(bench.folder, 'dot.png'), png)
    writeFileSync(join(bench.folder, 'data.bin'), Buffer.from([1, 0, 2]))
    writeFileSync(join(bench.folder, 'doc.pdf'), '%PDF-1.7 …')
    bench.write('src/query.ts', '')
    expect((await bench.call('Read', { file_path: 'dot.png' })).content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
    ])
    expect(await bench.say('Read', { file_path: 'data.bin' })).toBe(
      'ERROR: data.bin is a binary file (unknown type, 3 bytes).',
    )
    expect(await bench.say('Read', { file_path: 'doc.pdf' })).toBe('ERROR: doc.pdf is a binary file (PDF, 12 bytes).')
    expect(await bench.say('Read', { file_path: 'src' })).toBe(
      'ERROR: src is a folder. List its files with Glob, pattern "*".',
    )
    await bench.call('Bash', { command: 'mkfifo pipe' })
    expect(await bench.say('Read', { file_path: 'pipe' })).toBe('ERROR: pipe is not a regular file and cannot be read.')
    expect(await bench.say('Read', { file_path: 'src/query.js' })).toBe(
      'ERROR: src/query.js: there is no such file. Did you mean src/query.ts?',
    )
    expect(await bench.say('Read', { file_path: 'src/query.ts' })).toBe('(The file is empty.)')
  })

  test('does not send the same text twice, unless the file or the conversation has changed', async () => {
    const bench = await setBench()
    bench.write('a.txt', lines(3))
    const read = () => bench.say('Read', { file_path: 'a.txt' })
    expect(await read()).toBe(numbered(1, 3))
    expect(await read()).toBe('a.txt is unchanged since you read it: its text is in the result of that call (toolu_1).')
    // Another range is another text.
    expect(await bench.say('Read', { file_path: 'a.txt', offset: 3 })).toBe(numbered(3, 3))
    bench.write('a.txt', lines(2))
    expect(await read()).toBe(numbered(1, 2))
    await bench.session.rewind(await firstUuid(bench.session))
    expect(await read()).toBe(numbered(1, 2))
  })

  test('sends a text again after its result was cleared', async () => {
    const reductions: EngineSettings['reductions'] = {
      ...{ reproducible: ['Read'], weigh: false, byCacheEdit: { trigger: 1_000 } },
      microCompact: 'always',
      bySize: { target: 1, minFreed: 1, keep: 1 },
    }
    const bench = await setBench({ stage: { engine: { settings: { reductions } } } })
    const read = (name: string) => bench.say('Read', { file_path: name })
    for (const name of ['a.txt', 'b.txt']) bench.write(name, lines(200))
    bench.session.add({ role: 'user', content: 'Read them.' })
    const shown = await read('a.txt')
    expect(await read('b.txt')).toBe(shown)
    await bench.session.prepare()
    bench.session.abandonRequest()
    expect(JSON.stringify(bench.session.messages())).toContain('[Old tool result content cleared]')
    expect(await read('a.txt')).toBe(shown)
    expect(await read('b.txt')).toContain('b.txt is unchanged since you read it')
  })

  test('shows no secret that the settings or the environment hold', async () => {
    const environment = { PATH: process.env.PATH, GITHUB_TOKEN: 'ghp_0123456789', SHORT_KEY: 'abc' }
    const bench = await setBench({ environment, secrets: { 'the API key': 'sk-test-0123456789' } })
    bench.write('.env', 'A=sk-test-0123456789\nB=ghp_0123456789\nC=abc\n')
    expect(await bench.say('Read', { file_path: '.env' })).toBe(
      '1\tA=[redacted: the API key]\n2\tB=[redacted: GITHUB_TOKEN]\n3\tC=abc',
    )
    const search = { pattern: 'A=', path: '.env', output_mode: 'content' }
    expect(await bench.say('Grep', search)).toBe('.env:1:A=[redacted: the API key]')
  })
})

async function firstUuid(session: {
  readonly entries: () => Promise<Iterable<{ readonly record: unknown }>>
}): Promise<string> {
  for (const { record } of await session.entries()) {
    const { uuid } = record as { readonly uuid?: string }
    if (uuid !== undefined) return uuid
  }
  throw new Error('The session has no entries.')
}

describe('Write', () => {
  test('creates a file and its folders after asking, with the change in the question', async () => {
    const bench = await setBench()
    const output = await bench.call('Write', { file_path: 'src/new/a.ts', content: 'const a = 1\n' })
    expect(output.content).toBe('Created src/new/a.ts (1 line).')
    expect(bench.read('src/new/a.ts')).toBe('const a = 1\n')
    expect(bench.asked).toEqual([
      {
        toolUseId: 'toolu_1',
        tool: 'Write',
        title: 'Create src/new/a.ts',
        detail: { type: 'diff', text: expect.stringContaining('+const a = 1') },
        rules: ['Edit(/src/new/a.ts)'],
        offersEdits: true,
      },
    ])
  })

  test('replaces only a file that was read and is unchanged since', async () => {
    const bench = await setBench()
    bench.write('a.txt', 'one\n')
    const write = (content: string) => bench.say('Write', { file_path: 'a.txt', content })
    expect(await write('two\n')).toBe(
      'ERROR: a.txt has not been read in this conversation. Read it first, then change it.',
    )
    await bench.say('Read', { file_path: 'a.txt' })
    expect(await write('two\n')).toBe('Changed a.txt (+1 −1 lines).')
    // It knows the text that it wrote itself.
    expect(await write('three\n')).toBe('Changed a.txt (+1 −1 lines).')
    bench.write('a.txt', 'somebody else\n')
    expect(await write('four\n')).toBe(
      'ERROR: a.txt has changed since it was read, by the user, a command or another program. Read it again, then change it.',
    )
    expect(bench.read('a.txt')).toBe('somebody else\n')
    // Also where it is as long as before.
    await bench.say('Read', { file_path: 'a.txt' })
    bench.write('a.txt', 'Somebody else\n')
    expect(await write('four\n')).toContain('has changed since it was read')
  })

  test('a file that was merely touched has not changed', async () => {
    const bench = await setBench()
    bench.write('a.txt', 'one\n')
    await bench.say('Read', { file_path: 'a.txt' })
    utimesSync(join(bench.folder, 'a.txt'), 1, 1)
    expect(await bench.say('Write', { file_path: 'a.txt', content: 'two\n' })).toBe('Changed a.txt (+1 −1 lines).')
  })

  test('a change while the person is asked is not overwritten', async () => {
    const bench = await setBench({
      answer: () => {
        bench.write('a.txt', 'meanwhile\n')
        return { type: 'allow' }
      },
    })
    bench.write('a.txt', 'one\n')
    await bench.say('Read', { file_path: 'a.txt' })
    expect(await bench.say('Write', { file_path: 'a.txt', content: 'two\n' })).toContain(
      'has changed since it was read',
    )
    expect(await bench.say('Write', { file_path: 'b.txt', content: 'two\n' })).toBe('Created b.txt (1 line).')
    expect(bench.read('a.txt')).toBe('meanwhile\n')
  })

  test('says what the system refuses', async () => {
    const bench = await setBench()
    bench.write('file', '')
    mkdirSync(join(bench.folder, 'folder'))
    expect(await bench.say('Write', { file_path: 'file/a.txt', content: '' })).toBe(
      'ERROR: file/a.txt: a part of the path is a file, not a folder.',
    )
    expect(await bench.say('Write', { file_path: 'folder', content: '' })).toBe(
      'ERROR: folder is not a file that can be written.',
    )
  })
})

describe('Edit', () => {
  const edit = { file_path: 'a.ts', old_string: 'one', new_string: 'two' }

  test('replaces an exact text and keeps line ends and mode', async () => {
    const bench = await setBench()
    bench.write('a.ts', 'first one\r\nsecond\r\n')
    chmodSync(join(bench.folder, 'a.ts'), 0o755)
    await bench.say('Read', { file_path: 'a.ts' })
    const change = { file_path: 'a.ts', old_string: 'one\nsecond', new_string: 'two\nthird' }
    expect(await bench.say('Edit', change)).toBe('Changed a.ts (+2 −2 lines).')
    expect(bench.read('a.ts')).toBe('first two\r\nthird\r\n')
    expect(statSync(join(bench.folder, 'a.ts')).mode & 0o777).toBe(0o755)
    expect(bench.asked.map(({ title }) => title)).toEqual(['Edit a.ts'])
  })

  test('wants a unique text, or replace_all', async () => {
    const bench = await setBench()
    bench.write('a.ts', 'one\ntwo\none $& one\n')
    await bench.say('Read', { file_path: 'a.ts' })
    expect(await bench.say('Edit', edit)).toBe(
      'ERROR: a.ts: old_string occurs 3 times (lines 1, 3, 3). Include more of the text around it, or set replace_all.',
    )
    expect(bench.asked).toEqual([])
    expect(await bench.say('Edit', { ...edit, new_string: '$&', replace_all: true })).toBe(
      'Changed a.ts (+2 −2 lines).',
    )
    expect(bench.read('a.ts')).toBe('$&\ntwo\n$& $& $&\n')
  })

  test.each([
    ['is not there', 'three', 'old_string was not found. Read the file again and copy the text exactly.'],
    [
      'differs in white space',
      '    if (x) {\n  one',
      'old_string was not found. Lines 1 to 2 are the same but for white space. Read the file again and copy the text exactly.',
    ],
    [
      'has line numbers',
      '2\t one',
      'old_string was not found. Leave out the line numbers that Read puts in front of each line.',
    ],
    ['is empty', '', 'old_string is empty. Use Write for a new file, or name the text to replace.'],
    ['is the new one', 'two', 'old_string and new_string are the same: nothing would change.'],
  ])('refuses a text that %s', async (_, old_string, why) => {
    const bench = await setBench()
    bench.write('a.ts', 'if (x) {\n\tone\n}\n')
    await bench.say('Read', { file_path: 'a.ts' })
    expect(await bench.say('Edit', { ...edit, old_string })).toBe(`ERROR: a.ts: ${why}`)
    expect(bench.read('a.ts')).toBe('if (x) {\n\tone\n}\n')
  })

  test('refuses a file that was not read, has changed, is not there, or is not UTF-8', async () => {
    const bench = await setBench()
    bench.write('a.ts', 'one\n')
    expect(await bench.say('Edit', edit)).toContain('has not been read')
    await bench.say('Read', { file_path: 'a.ts' })
    await bench.call('Bash', { command: 'echo more >> a.ts' })
    expect(await bench.say('Edit', edit)).toContain('has changed since it was read')
    expect(await bench.say('Edit', { ...edit, file_path: 'b.ts' })).toBe(
      'ERROR: b.ts: there is no such file. Use Write to create a file.',
    )
    writeFileSync(join(bench.folder, 'latin.ts'), Buffer.from([0x6f, 0x6e, 0x65, 0xe9]))
    await bench.say('Read', { file_path: 'latin.ts' })
    expect(await bench.say('Edit', { ...edit, file_path: 'latin.ts' })).toContain('is not UTF-8 text')
  })

  test('changes the file behind a link inside the workspace, and leaves the link', async () => {
    const bench = await setBench()
    bench.write('a.ts', 'one\n')
    symlinkSync('a.ts', join(bench.folder, 'link.ts'))
    await bench.say('Read', { file_path: 'link.ts' })
    expect(await bench.say('Edit', { ...edit, file_path: 'link.ts' })).toBe('Changed a.ts (+1 −1 lines).')
    expect(bench.read('a.ts')).toBe('two\n')
    expect(bench.read('link.ts')).toBe('two\n')
  })
})
