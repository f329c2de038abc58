import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mistakeFor } from './mistakes.ts'
import { syntheticRepository } from './repository.ts'
import { toolsOf } from './tools.ts'

const repository = syntheticRepository({ seed: 5, files: 30 })

describe('a made-up repository', () => {
  test('is the same for the same seed and another for another', () => {
    expect(syntheticRepository({ seed: 5, files: 30 })).toEqual(repository)
    expect(syntheticRepository({ seed: 6, files: 30 }).files).not.toEqual(repository.files)
  })

  test('has as many files as asked, of every kind', () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 150 }), fc.integer(), (files, seed) => {
        const made = syntheticRepository({ seed, files })
        expect(made.files.size).toBe(files)
        expect(made.bugs.length).toBeGreaterThan(0)
      }),
      { numRuns: 30 },
    )
    const endings = new Set([...repository.files.keys()].map((path) => path.split('.').at(-1)))
    expect(endings).toEqual(new Set(['md', 'ts', 'json', 'log']))
  })

  test('has every bug exactly once in its file, and a test that names it', () => {
    const { bugs, files } = syntheticRepository({ seed: 'many', files: 200 })
    for (const bug of bugs) {
      expect(files.get(bug.path)?.split(bug.wrong).length, bug.wrong).toBe(2)
      expect(files.get(bug.path)).not.toContain(bug.right)
      expect(files.get(bug.testPath)).toContain(bug.testName)
    }
  })

  test('refers across files: modules import modules that exist', () => {
    const imports = [...repository.files].flatMap(([path, content]) =>
      [...content.matchAll(/from '\.\.\/(.*)'/g)].map((match) => [path, `src/${match[1]}`]),
    )
    expect(imports.length).toBeGreaterThan(3)
    expect(imports.filter(([, target]) => !repository.files.has(target ?? ''))).toEqual([])
  })
})

describe('its tools', () => {
  const bug = repository.bugs[0]!

  test('fail the tests until the bug is repaired, then pass', () => {
    const tools = toolsOf(repository)
    const command = { command: `npm test -- ${bug.testPath}` }
    const before = tools.run('Bash', command)
    expect(before.isError).toBe(true)
    expect(before.content).toContain(`FAIL  ${bug.testPath} > ${bug.testName}`)
    const edited = tools.run('Edit', { file_path: bug.path, old_string: bug.wrong, new_string: bug.right })
    expect(edited.isError).toBe(false)
    expect(edited.content).toContain(bug.right)
    const after = tools.run('Bash', command)
    expect(after.isError).toBe(false)
    expect(after.content).toMatch(/Tests {2}\d+ passed/)
    expect(repository.files.get(bug.path)).toContain(bug.wrong)
  })

  test('read with line numbers, from an offset, by either kind of path', () => {
    const tools = toolsOf(repository)
    tools.run('Write', { file_path: 'notes.md', content: 'one\ntwo\nthree\n' })
    expect(tools.run('Read', { file_path: 'notes.md' })).toEqual({
      content: '     1\tone\n     2\ttwo\n     3\tthree',
      isError: false,
    })
    const part = { path: `${repository.root}/notes.md`, offset: 2, limit: 1 }
    expect(tools.run('read_file', part)).toEqual({ content: '     2\ttwo', isError: false })
    expect(tools.run('Read', { file_path: 'notes.md', offset: 9 }).content).toBe('The file has 3 lines.')
  })

  test('give large results where a real repository would', () => {
    const tools = toolsOf(repository)
    expect(tools.run('Read', { file_path: 'src/generated/tables.ts' }).content.length).toBeGreaterThan(40_000)
    expect(tools.run('Bash', { command: 'npm run build' }).content.length).toBeGreaterThan(20_000)
  })

  test('grep files, lines and counts, within a path or a glob', () => {
    const tools = toolsOf(repository)
    tools.run('Write', { file_path: 'a/one.ts', content: 'alpha\nbeta ALPHA\n' })
    tools.run('Write', { file_path: 'a/two.md', content: 'alpha\n' })
    const grep = (input: object) => tools.run('Grep', { pattern: 'alpha', path: 'a', ...input }).content
    expect(grep({})).toBe('Found 2 files\na/one.ts\na/two.md')
    expect(grep({ output_mode: 'content', glob: '*.ts', '-i': true })).toBe('a/one.ts:1:alpha\na/one.ts:2:beta ALPHA')
    expect(grep({ output_mode: 'count', glob: '**/*.{md,txt}' })).toBe('a/two.md:1')
    expect(grep({ output_mode: 'content', head_limit: 1 })).toBe('a/one.ts:1:alpha')
    expect(grep({ pattern: 'gamma' })).toBe('No matches found')
  })

  test.each([
    ['Read', {}, 'InputValidationError: Read needs a file_path.'],
    ['Read', { file_path: 'nowhere.ts' }, 'File does not exist: nowhere.ts'],
    [
      'Edit',
      { file_path: 'README.md' },
      'InputValidationError: Edit needs a file_path, an old_string and a new_string.',
    ],
    [
      'Edit',
      { file_path: 'README.md', old_string: 'never written', new_string: 'x' },
      'String to replace not found in file.\nString: never written',
    ],
    [
      'Edit',
      { file_path: 'README.md', old_string: 'x', new_string: 'x' },
      'No changes to make: old_string and new_string are exactly the same.',
    ],
    ['Write', { content: 'x' }, 'InputValidationError: Write needs a file_path and content.'],
    ['Grep', { pattern: '(' }, 'regex parse error: Invalid regular expression: /(/: Unterminated group'],
    ['Grep', { pattern: '(a+)+$' }, 'regex parse error: nested repetition is not supported'],
    ['Bash', { command: 'rm -rf /' }, 'Exit code 127\nbash: rm: command not found'],
    ['Bash', { command: 'cat nowhere.ts' }, 'Exit code 1\ncat: nowhere.ts: No such file or directory'],
    ['Weather', {}, 'No such tool available: Weather'],
    ['Read', 'README.md', 'InputValidationError: Read takes an object.'],
  ])('answer misuse of %s with a reason: %j', (name, input, content) => {
    expect(toolsOf(repository).run(name, input)).toEqual({ content, isError: true })
  })

  test('an edit with several places needs replace_all', () => {
    const tools = toolsOf(repository)
    tools.run('Write', { file_path: 'x', content: 'a b a' })
    const edit = { file_path: 'x', old_string: 'a', new_string: 'c' }
    expect(tools.run('Edit', edit).content).toBe('Found 2 matches of the string to replace, but replace_all is false.')
    tools.run('Edit', { ...edit, replace_all: true })
    expect(tools.files.get('x')).toBe('c b c')
  })

  test('run a small shell: listing, status, chains that stop at the first failure', () => {
    const tools = toolsOf(repository)
    const bash = (command: string) => tools.run('Bash', { command }).content
    expect(bash('ls')).toBe('README.md\ndocs\nlogs\npackage.json\nsrc\ntsconfig.json')
    expect(bash('git status')).toBe(`On branch ${repository.branch}\nnothing to commit, working tree clean`)
    tools.run('Write', { file_path: 'new.ts', content: '' })
    tools.run('Write', { file_path: 'README.md', content: '# x\n' })
    expect(bash('git status')).toBe(
      `On branch ${repository.branch}\nChanges not staged for commit:\n\tmodified:   README.md\nUntracked files:\n\tnew.ts`,
    )
    expect(bash('cat README.md && wc -l README.md && pwd')).toBe(`# x\n1 README.md\n${repository.root}`)
    expect(bash('echo "so far" && nope && echo never')).toBe('Exit code 127\nso far\nbash: nope: command not found')
    expect(bash('ls nowhere')).toBe("Exit code 2\nls: cannot access 'nowhere': No such file or directory")
  })

  test('no input makes a tool throw', () => {
    const tools = toolsOf(repository)
    const names = fc.oneof(fc.constantFrom('Read', 'Grep', 'Edit', 'Write', 'Bash', 'TodoWrite'), fc.string())
    fc.assert(
      fc.property(
        names,
        fc.oneof(
          fc.dictionary(
            fc.constantFrom(
              'file_path',
              'pattern',
              'command',
              'glob',
              'offset',
              'old_string',
              'new_string',
              'content',
              'todos',
            ),
            fc.jsonValue(),
          ),
          fc.jsonValue(),
        ),
        (name, input) => {
          const { content, isError } = tools.run(name, input)
          expect([typeof content, typeof isError]).toEqual(['string', 'boolean'])
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('planted mistakes', () => {
  test('are of four kinds, each with code that differs in one place, and a result that shows it', () => {
    const kinds = [0, 1, 2, 3].map((kind) => mistakeFor('rate-limit', kind))
    expect(kinds.map(({ symbol }) => symbol)).toEqual([
      'countRateLimits',
      'latestRateLimit',
      'limitRateLimit',
      'loadRateLimit',
    ])
    for (const { wrong, right, expected, received } of kinds) {
      expect([wrong === right, expected === received]).toEqual([false, false])
    }
    expect(mistakeFor('rate-limit', 9)).toEqual(kinds[0])
  })

  test('of a repository are not all of one kind', () => {
    const { bugs } = syntheticRepository({ seed: 'many', files: 200 })
    expect(new Set(bugs.map(({ symbol }) => symbol.replace(/[A-Z].*/, ''))).size).toBeGreaterThan(2)
  })
})

test('a test run names every test of every suite in the order of the files, then the failures, then the sum', () => {
  const made = syntheticRepository({ seed: 'order', files: 60 })
  const lines = toolsOf(made).run('Bash', { command: 'npm test' }).content.split('\n')
  const suites = [...made.files].filter(([path]) => path.endsWith('.test.ts'))
  const names = suites.flatMap(([path, text]) => [
    path,
    ...[...text.matchAll(/^test\('(.*)', async/gm)].map(([, name]) => name ?? ''),
  ])
  const printed = lines.flatMap((line) => /^ {1,3}[✓✗] (.*?)(?: \(\d+ tests\))? \d+ms$/.exec(line)?.[1] ?? [])
  expect(printed).toEqual(names)
  const failures = lines.filter((line) => line.startsWith(' FAIL'))
  expect(failures).toEqual(made.bugs.map(({ testPath, testName }) => ` FAIL  ${testPath} > ${testName}`))
  const red = lines.filter((line) => line.startsWith('   ✗')).length
  const count = names.length - suites.length
  expect([red, lines.find((line) => line.includes('Tests  '))]).toEqual([
    made.bugs.length,
    `      Tests  ${made.bugs.length} failed | ${count - made.bugs.length} passed (${count})`,
  ])
  expect(made.bugs.length).toBeGreaterThan(1)
})

test('what is made of a seed is always the same: benchmarks and recorded answers rest on it', () => {
  const digest = (seed: string) => {
    const { head, files, bugs } = syntheticRepository({ seed, files: 60 })
    return createHash('sha256')
      .update(JSON.stringify([head, [...files], bugs]))
      .digest('hex')
      .slice(0, 16)
  }
  expect(['one', 'two', 'three'].map(digest)).toMatchInlineSnapshot(`
    [
      "ddc5f947b31330d7",
      "d50c3f796933c45c",
      "f31f80469aeb85fd",
    ]
  `)
})
