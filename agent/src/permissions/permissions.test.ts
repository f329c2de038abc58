import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { benches } from '../testing/with-bench.ts'

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
    for (const command of ['true', 'true', 'true && true', ' true ', 'false']) await bench.call('Bash', { command })
    expect(bench.asked.map(({ rule }) => rule)).toEqual(['Bash(true)', 'Bash(false)'])
    for (const path of ['a', 'b']) await bench.call('Write', write(path))
    await bench.call('Edit', { file_path: 'a', old_string: 'x', new_string: 'y' })
    expect(bench.asked.slice(2).map(({ rule }) => rule)).toEqual(['Edit(/a)', 'Edit(/b)'])
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
  const second = bench.call('Bash', { command: 'echo second' })
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
    await bench.call('Bash', { command: 'true' })
    expect(bench.asked.map(({ title, reason }) => [title, reason])).toEqual([
      ['Create .git/hooks/pre-commit', 'changing it can change what runs later'],
      ['Create .everlong/settings.json', 'changing it can change what runs later'],
      [`Create ${join(bench.outside, 'b')}`, 'outside the workspace'],
      ['Create .GIT/config', 'changing it can change what runs later'],
      ['Run true', undefined],
    ])
  })

  test('plan denies every change, and says how to go on', async () => {
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

  test('a ring of links and a NUL are refused in words', async () => {
    const bench = await setBench()
    symlinkSync('b', join(bench.folder, 'a'))
    symlinkSync('a', join(bench.folder, 'b'))
    await expect(bench.call('Read', { file_path: 'a' })).rejects.toThrow('goes through too many links')
    await expect(bench.call('Read', { file_path: 'a\u0000' })).rejects.toThrow('A path cannot contain a NUL character.')
  })
})

test('rules that cannot be read are named before anything runs', async () => {
  await expect(setBench({ permissions: { allow: ['Bash()'] } })).rejects.toThrow('permissions.allow[0] "Bash()"')
})
