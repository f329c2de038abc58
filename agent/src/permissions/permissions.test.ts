import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Bench } from '../testing/tool-bench.ts'
import { benches } from '../testing/with-bench.ts'
import { ruleTools } from './rule.ts'

const setBench = benches()
const never = () => ({ type: 'deny', reason: 'not today' }) as const
const write = (file_path: string) => ({ file_path, content: 'x\n' })

describe('asking', () => {
  test('a denial tells the model why and what to do, and nothing was done', async () => {
    const bench = await setBench({ answer: never })
    expect(await bench.say('Bash', { command: 'touch a' })).toBe(
      'ERROR: Permission was denied by the user: Run touch a. They said: not today. Nothing was done. Do not try to reach the same in another way: continue without it, or ask the user how to go on.',
    )
    expect(await bench.say('Write', write('a'))).toContain('Permission was denied by the user: Create a.')
    expect(await bench.say('Glob', { pattern: '*' })).toBe('No files match.')
  })

  test('without a person, the model is not told that one denied it, nor to ask one', async () => {
    const bench = await setBench({ answer: () => ({ type: 'deny', isUnattended: true }) })
    expect(await bench.say('Bash', { command: 'touch a' })).toBe(
      'ERROR: There was nobody to ask for permission: Run touch a. Nothing was done. Do not try to reach the same in another way: continue without it, and say at the end what is missing.',
    )
  })

  test('"always" allows the same again, and nothing else', async () => {
    const bench = await setBench({ answer: () => ({ type: 'always' }) })
    for (const command of ['rm a', 'rm a', 'rm a && rm a', ' rm a ', 'rm b']) await bench.call('Bash', { command })
    expect(bench.asked.map(({ rules }) => rules)).toEqual([['Bash(rm a)'], ['Bash(rm b)']])
    for (const path of ['.npmrc', '.envrc']) await bench.call('Write', write(path))
    await bench.call('Edit', { file_path: '.npmrc', old_string: 'x', new_string: 'y' })
    expect(bench.asked.slice(2).map(({ rules }) => rules)).toEqual([['Edit(/.npmrc)'], ['Edit(/.envrc)']])
  })

  test('"always" for a command covers it with other arguments, and what it is joined to only if that is allowed', async () => {
    const bench = await setBench({ answer: () => ({ type: 'always' }) })
    for (const command of ['make a', 'make a -j2', 'make a | head -3', 'make a && touch b', 'make c', 'touch b'])
      await bench.call('Bash', { command })
    expect(bench.asked.map(({ title, rules }) => [title, rules])).toEqual([
      ['Run make a', ['Bash(make a:*)']],
      ['Run make a && touch b', ['Bash(touch:*)']],
      ['Run make c', ['Bash(make c:*)']],
    ])
  })

  test('rules are kept where the person says, once each, and only what was asked about', async () => {
    const stored: unknown[] = []
    const answers = [
      { type: 'always', place: 'project' },
      { type: 'always', place: 'user' },
      { type: 'always' },
    ] as const
    let asked = 0
    const bench = await setBench({
      answer: () => answers[asked++] ?? { type: 'deny' },
      keepRules: (rules, place) => stored.push([place, rules]),
    })
    for (const command of ['make a && make b', 'make b', 'make c', 'make d']) await bench.call('Bash', { command })
    expect(stored).toEqual([
      ['project', ['Bash(make a:*)', 'Bash(make b:*)']],
      ['user', ['Bash(make c:*)']],
    ])
    expect(bench.asked.map(({ places }) => places)).toEqual([1, 2, 3].map(() => ['project', 'user']))
  })

  test('the first edit offers to accept all; then no edit of the workspace asks, and everything else does', async () => {
    const bench = await setBench({ answer: ({ offersEdits }) => ({ type: offersEdits ? 'accept-edits' : 'allow' }) })
    for (const path of ['a', 'b', '.npmrc']) await bench.call('Write', write(path))
    await bench.call('Bash', { command: 'touch c' })
    expect(bench.mode()).toBe('accept-edits')
    expect(bench.asked.map(({ title, rules, offersEdits }) => [title, rules, offersEdits])).toEqual([
      ['Create a', ['Edit(/a)'], true],
      ['Create .npmrc', ['Edit(/.npmrc)'], undefined],
      ['Run touch c', ['Bash(touch:*)'], undefined],
    ])
  })

  test('a permission for once is asked for again', async () => {
    const bench = await setBench({ answer: () => ({ type: 'allow' }) })
    for (const _ of [1, 2]) await bench.call('Bash', { command: 'touch a' })
    expect(bench.asked.map(({ title }) => title)).toEqual(['Run touch a', 'Run touch a'])
  })

  test('a question that fails does not keep the next one from being asked', async () => {
    let questions = 0
    const bench = await setBench({
      answer: () => {
        if (++questions === 1) throw new Error('The screen is gone.')
        return { type: 'allow' }
      },
    })
    await expect(bench.call('Bash', { command: 'touch first' })).rejects.toThrow('The screen is gone.')
    expect(await bench.say('Bash', { command: 'touch second && echo second' })).toBe('second')
  })

  test('one question at a time, and an answer counts for those that wait', async () => {
    let open = 0
    let most = 0
    const bench = await setBench({
      answer: async () => {
        most = Math.max(most, ++open)
        await new Promise((resolve) => setTimeout(resolve, 20))
        open--
        return { type: 'always' }
      },
    })
    writeFileSync(join(bench.outside, 'a.txt'), 'a\n')
    const read = () => bench.call('Read', { file_path: join(bench.outside, 'a.txt') })
    const results = await Promise.all([read(), read(), read()])
    expect(results.map(({ isError }) => isError)).toEqual([undefined, undefined, undefined])
    expect([most, bench.asked.length]).toEqual([1, 1])
  })
})

test('a question that is interrupted holds up no other', async () => {
  const stop = new AbortController()
  let questions = 0
  const bench = await setBench({ answer: () => (++questions === 1 ? new Promise(() => undefined) : { type: 'allow' }) })
  const first = bench.call('Bash', { command: 'touch a' }, stop.signal)
  const second = bench.call('Bash', { command: 'rm -f b && echo second' })
  await expect.poll(() => questions).toBe(1)
  stop.abort()
  expect((await first).isError).toBe(true)
  expect((await second).content).toBe('second')
  expect(await bench.say('Glob', { pattern: '*' })).toBe('No files match.')
})

describe('modes', () => {
  test('accept-edits lets edits in the workspace pass, and nothing else', async () => {
    const bench = await setBench({ startMode: 'accept-edits', answer: never })
    expect(await bench.say('Write', write('src/a'))).toBe('Created src/a (1 line).')
    for (const path of ['.git/hooks/pre-commit', '.everlong/settings.json', '../b', '.GIT/config'])
      await bench.call('Write', write(path))
    await bench.call('Bash', { command: 'touch a' })
    expect(bench.asked.map(({ title, reason }) => [title, reason])).toEqual([
      ['Create .git/hooks/pre-commit', 'changing it can change what runs later'],
      ['Create .everlong/settings.json', 'changing it can change what runs later'],
      [`Create ${join(bench.outside, 'b')}`, 'outside the workspace'],
      ['Create .GIT/config', 'changing it can change what runs later'],
      ['Run touch a', undefined],
    ])
  })

  test.each([
    ...[
      '.npmrc',
      'packages/a/.npmrc',
      '.envrc',
      '.mcp.json',
      '.gitattributes',
      '.gitmodules',
      '.bashrc',
      '.zshenv',
      '.profile',
    ],
    ...[
      'node_modules/.bin/jest',
      '.husky/pre-commit',
      '.githooks/pre-push',
      '.codex/config.toml',
      '.yarnrc.yml',
      '.Envrc',
    ],
  ])('accept-edits asks about %s, which can change what runs later', async (path) => {
    const bench = await setBench({ startMode: 'accept-edits', answer: never })
    await bench.call('Write', write(path))
    expect(bench.asked.map(({ reason }) => reason)).toEqual(['changing it can change what runs later'])
  })

  test.each(['src/npmrc.ts', 'package.json', 'docs/.mcp.json.md', 'src/bin/a.ts'])('but not about %s', async (path) => {
    const bench = await setBench({ startMode: 'accept-edits', answer: never })
    expect(await bench.say('Write', write(path))).toContain('Created')
  })

  test('plan denies every change, and says how to continue', async () => {
    const bench = await setBench({ startMode: 'plan', permissions: { allow: ['Bash', 'Edit'] } })
    const denied =
      'ERROR: Permission was denied: plan mode is on, so nothing may be changed; finish the plan and call ExitPlanMode. Do not try to reach the same in another way. If the task needs it, say so to the user.'
    expect(await bench.say('Write', write('a'))).toBe(denied)
    expect(await bench.say('Bash', { command: 'touch a' })).toBe(denied)
    expect(await bench.say('Bash', { command: 'pwd' })).toBe(bench.folder)
  })

  test('allow asks nothing, but a rule that denies wins', async () => {
    const bench = await setBench({
      startMode: 'allow',
      permissions: { deny: ['Bash(rm:*)', 'Edit(*.lock)'], allow: ['Bash', 'Edit'] },
    })
    expect(await bench.say('Bash', { command: 'echo a' })).toBe('a')
    expect(await bench.say('Bash', { command: 'echo a; rm -rf b' })).toBe(
      'ERROR: Permission was denied: the rule Bash(rm:*) in the settings forbids it. Do not try to reach the same in another way. If the task needs it, say so to the user.',
    )
    expect(await bench.say('Write', write('deep/yarn.lock'))).toContain('the rule Edit(*.lock)')
    expect(await bench.say('Bash', { command: 'echo > deep/yarn.lock' })).toContain('the rule Edit(*.lock)')
    expect(bench.asked).toEqual([])
  })
})

describe('links and paths', () => {
  test('a path outside asks, whichever way it is written', async () => {
    const bench = await setBench({ answer: never })
    writeFileSync(join(bench.outside, 'a.txt'), 'a\n')
    for (const file_path of ['../a.txt', join(bench.outside, 'a.txt'), 'x/../../a.txt', '~/a.txt']) {
      await bench.call('Read', { file_path })
    }
    expect(bench.asked.map(({ reason }) => reason)).toEqual(Array(4).fill('outside the workspace'))
  })

  test('a link that leads out asks, for files that are there, that are not yet, and for folders', async () => {
    const bench = await setBench({ answer: never, startMode: 'accept-edits' })
    const target = join(bench.outside, 'elsewhere')
    mkdirSync(target)
    writeFileSync(join(target, 'a.txt'), 'secret\n')
    const link = (to: string, name: string) => symlinkSync(to, join(bench.folder, name))
    link(join(target, 'a.txt'), 'file')
    link(target, 'folder')
    link(join(target, 'not-yet.txt'), 'dangling')
    link('../elsewhere/b.txt', 'relative')
    link('folder', 'twice')
    await bench.call('Read', { file_path: 'file' })
    await bench.call('Grep', { pattern: 'secret', path: 'folder' })
    for (const path of ['folder/new.txt', 'dangling', 'relative', 'twice/deep/new.txt'])
      await bench.call('Write', write(path))
    const to = (name: string) => `a link leads out of the workspace, to ${join(target, name)}`
    expect(bench.asked.map(({ reason }) => reason)).toEqual([
      to('a.txt'),
      `a link leads out of the workspace, to ${target}`,
      to('new.txt'),
      to('not-yet.txt'),
      to('b.txt'),
      to('deep/new.txt'),
    ])
    // Searches do not go through links on their way.
    expect(await bench.say('Grep', { pattern: 'secret' })).toBe('No matches.')
  })

  test('a rule counts for where a link leads, not for its name', async () => {
    const rules = { allow: ['Edit(src/**)', 'Read(src/**)'], deny: ['Read(private/**)'] }
    const bench = await setBench({ answer: never, permissions: rules })
    mkdirSync(join(bench.folder, 'src'))
    bench.write('private/a.txt', 'secret\n')
    symlinkSync(bench.outside, join(bench.folder, 'src', 'out'))
    symlinkSync('../private/a.txt', join(bench.folder, 'src', 'inner'))
    expect(await bench.say('Write', write('src/a.txt'))).toBe('Created src/a.txt (1 line).')
    expect(await bench.say('Write', write('src/out/a.txt'))).toContain('Permission was denied by the user')
    expect(await bench.say('Read', { file_path: 'src/inner' })).toContain('the rule Read(private/**)')
    expect(await bench.say('Bash', { command: 'cat private/a.txt' })).toContain('the rule Read(private/**)')
  })

  test('a rule that denies counts for the name of a link, too', async () => {
    const rules = { deny: ['Read(/secrets/**)', 'Edit(/secrets/**)'] }
    const bench = await setBench({ answer: never, permissions: rules, startMode: 'allow' })
    mkdirSync(join(bench.outside, 'vault'))
    writeFileSync(join(bench.outside, 'vault', 'a.txt'), 'secret\n')
    symlinkSync('../vault', join(bench.folder, 'secrets'))
    expect(await bench.say('Read', { file_path: 'secrets/a.txt' })).toContain('the rule Read(/secrets/**)')
    expect(await bench.say('Write', write('secrets/b.txt'))).toContain('the rule Edit(/secrets/**)')
    expect(bench.asked).toEqual([])
  })

  test('a ring of links and a NUL are refused in words', async () => {
    const bench = await setBench()
    symlinkSync('b', join(bench.folder, 'a'))
    symlinkSync('a', join(bench.folder, 'b'))
    await expect(bench.call('Read', { file_path: 'a' })).rejects.toThrow('goes through too many links')
    await expect(bench.call('Read', { file_path: 'a\u0000' })).rejects.toThrow('A path cannot contain a NUL character.')
  })
})

describe('a link that appears while the person is asked', () => {
  const swapped = async (mode: 'accept-edits' | 'ask', call: (bench: Bench) => Promise<string>) => {
    const bench: Bench = await setBench({
      startMode: mode,
      answer: () => {
        renameSync(join(bench.folder, 'd'), join(bench.folder, 'd.real'))
        symlinkSync('../elsewhere', join(bench.folder, 'd'))
        return { type: 'allow' }
      },
    })
    mkdirSync(join(bench.outside, 'elsewhere'))
    writeFileSync(join(bench.outside, 'elsewhere', 'secret.txt'), 'secret\n')
    bench.write('d/a.txt', 'a\n')
    const said = await call(bench)
    expect(said).toContain(
      `a link in this path was changed while permission was asked. It leads to ${bench.outside}/elsewhere`,
    )
    expect(readdirSync(join(bench.outside, 'elsewhere'))).toEqual(['secret.txt'])
  }

  test('is not followed by a new file', () => swapped('ask', (bench) => bench.say('Write', write('d/new.txt'))))

  test('is not followed by a new file in a new folder', () =>
    swapped('ask', (bench) => bench.say('Write', write('d/deep/new.txt'))))

  test('is not followed by reading', async () => {
    const bench: Bench = await setBench({
      answer: () => {
        renameSync(join(bench.outside, 'd'), join(bench.outside, 'd.real'))
        symlinkSync('elsewhere', join(bench.outside, 'd'))
        return { type: 'allow' }
      },
    })
    for (const name of ['d', 'elsewhere']) {
      mkdirSync(join(bench.outside, name))
      writeFileSync(join(bench.outside, name, 'a.txt'), `${name}\n`)
    }
    const said = await bench.say('Read', { file_path: '../d/a.txt' })
    expect(said).toContain(`It leads to ${bench.outside}/elsewhere/a.txt now. Nothing was done.`)
  })
})

test('commands that were tried against rules that deny are not run', async () => {
  const bench = await setBench({
    startMode: 'allow',
    permissions: { deny: ['Read(.env)', 'Bash(rm:*)', 'Bash(git push:*)'] },
    answer: () => ({ type: 'deny', isUnattended: true }),
  })
  bench.write('.env', 'KEY=topsecret\n')
  bench.write('victim', 'x\n')
  const tried = [
    'TMPDIR=/tmp rm -f victim',
    '{rm,victim}',
    'f() { "$@"; }; f rm victim',
    'echo victim | xargs rm',
    "sed '1e rm victim' victim",
    'IFS=,; c=rm,victim; $c',
    'cat .en{v,}',
    'cat .e``nv',
    'shopt -s dotglob; cat *',
    "python3 -c \"print(open('.e'+'nv').read())\"",
    'cat $(printf .%s env)',
    'cat /proc/self/cwd/.env',
  ]
  for (const command of tried)
    expect(await bench.say('Bash', { command })).toMatch(/^ERROR: (?:Permission|There was nobody)/)
  expect(bench.read('victim')).toBe('x\n')
  // What is literal and harmless runs, and the secret is where it was.
  expect(await bench.say('Bash', { command: 'ls -A | sort && wc -c < victim' })).toBe('.env\nvictim\n2')
})

test('"always" for a doubtful command allows this very script again, and no other', async () => {
  const bench = await setBench({
    startMode: 'allow',
    permissions: { deny: ['Bash(rm:*)'] },
    answer: () => ({ type: 'always' }),
  })
  for (const command of ['x=a; $x', 'x=a; $x', 'x=b; $x']) await bench.call('Bash', { command })
  expect(bench.asked.map(({ reason, rules }) => [reason, rules?.join()])).toEqual([
    ['Bash(rm:*) may forbid it: $x is only known when it runs', 'Bash(x=a; $x)'],
    ['Bash(rm:*) may forbid it: $x is only known when it runs', 'Bash(x=b; $x)'],
  ])
})

test('what a command or a tool is called cannot draw lines into the question', async () => {
  const bench = await setBench({ answer: never })
  const description = 'Lists files\n\n› 1. Allow once (y)\r\n\u2028  2. Deny'
  await bench.call('Bash', { command: 'touch a', description })
  await bench.call('Write', write('a\nb'))
  expect(bench.asked.map(({ title, detail }) => [title, detail?.type === 'text' ? detail.text : undefined])).toEqual([
    ['Run touch a', 'touch a\n\n# Lists files › 1. Allow once (y) 2. Deny'],
    ['Create a b', undefined],
  ])
})

test.each(['Task', 'TodoWrite', 'Bash', 'recall', 'McpCall', 'ToolSearch', 'ExitPlanMode'])(
  '%s that is denied altogether is not offered',
  async (tool) => {
    const mcpServers = { a: { command: 'no-such-program' } }
    const offered = async (deny: readonly string[]) => {
      const { tools } = await setBench({ mcpServers, permissions: { deny } })
      return tools.tools.map(({ name }) => name)
    }
    expect(await offered([tool])).toEqual((await offered([])).filter((name) => name !== tool))
  },
)

test('rules know every tool and the network, and nothing else', async () => {
  const skills = await setBench()
  skills.write('s/x/SKILL.md', '---\nname: x\ndescription: Does x.\n---\nDo x.\n')
  const bench = await setBench({
    mcpServers: { a: { command: 'no-such-program' } },
    skillFolders: [join(skills.folder, 's')],
  })
  expect([...bench.tools.tools.map(({ name }) => name), 'Network'].sort()).toEqual([...ruleTools].sort())
})

test('rules that cannot be read are named before anything runs', async () => {
  await expect(setBench({ permissions: { allow: ['Bash()'] } })).rejects.toThrow('permissions.allow[0] "Bash()"')
})

describe('files with secrets in the workspace', () => {
  const secrets = ['.env', '.env.local', 'app/.env.production', '.netrc', 'keys/id_ed25519']
  const open = ['.env.example', '.env.sample', '.envrc.md', 'environment.ts']
  const stage = async (options: Parameters<typeof setBench>[0] = {}) => {
    const bench = await setBench(options)
    for (const path of [...secrets, ...open]) bench.write(path, 'MARZIPAN=1\n')
    return bench
  }
  const reasons = ({ asked }: Bench) => asked.map(({ reason }) => reason)

  test('ask before they are read, and say why; a denial reads nothing', async () => {
    const bench = await stage({ answer: never })
    for (const file_path of secrets) {
      expect(await bench.say('Read', { file_path })).toContain('Permission was denied by the user')
    }
    expect(reasons(bench)).toEqual(secrets.map(() => 'it may hold secrets'))
    for (const file_path of open) expect(await bench.say('Read', { file_path })).toBe('1\tMARZIPAN=1')
    expect(bench.asked).toHaveLength(secrets.length)
  })

  test('ask in accept-edits and plan mode too, and not in the mode that asks nothing', async () => {
    const asked = async (mode: 'accept-edits' | 'plan' | 'allow') => {
      const bench = await stage({ startMode: mode })
      await bench.call('Read', { file_path: '.env' })
      return bench.asked.length
    }
    expect([await asked('accept-edits'), await asked('plan'), await asked('allow')]).toEqual([1, 1, 0])
  })

  test('"always" opens this file only, for every tool that reads', async () => {
    const bench = await stage({ answer: () => ({ type: 'always' }) })
    for (const file_path of ['.env', '.env', '.env.local']) await bench.call('Read', { file_path })
    await bench.call('Grep', { pattern: 'MARZIPAN', path: '.env' })
    await bench.call('Bash', { command: 'cat .env' })
    expect(bench.asked.map(({ rules }) => rules)).toEqual([['Read(/.env)'], ['Read(/.env.local)']])
  })

  test('a rule of the settings opens them', async () => {
    const bench = await stage({ permissions: { allow: ['Read(.env)'] } })
    expect(await bench.say('Read', { file_path: 'app/../.env' })).toBe('1\tMARZIPAN=1')
    expect(bench.asked).toEqual([])
  })

  test('are left out by searches of a folder, unless a rule opens them', async () => {
    const found = async (options: Parameters<typeof setBench>[0]) =>
      (await (await stage(options)).say('Grep', { pattern: 'MARZIPAN' })).split('\n').toSorted()
    expect(await found({})).toEqual(open.toSorted())
    expect(await found({ permissions: { allow: ['Read(.env)'] } })).toEqual([...open, '.env'].toSorted())
    expect(await found({ startMode: 'allow' })).toEqual([...open, ...secrets].toSorted())
  })

  test.each(['cat .env', 'head -1 app/.env.production', 'cd keys && cat id_ed25519', 'cat .e*'])(
    'ask before a command outside the sandbox looks at one: %s',
    async (command) => {
      const bench = await stage({ answer: never })
      expect(await bench.say('Bash', { command })).toContain('Permission was denied by the user')
      await bench.call('Bash', { command: 'cat .env.example' })
      expect(bench.asked).toHaveLength(1)
    },
  )
})
