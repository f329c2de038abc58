import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { memoryFiles } from '../context/memory-files.ts'
import { setFolder } from '../testing/folder.ts'
import { benches } from '../testing/with-bench.ts'
import { decide } from './decide.ts'
import { type Disk, disk } from './disk.ts'
import { otherNamesOf } from './hard-links.ts'
import { parseRules } from './rule.ts'
import { readScript } from './script.ts'

const setBench = benches()
const temporary = setFolder()
const forbidden = (rule: string) =>
  `ERROR: Permission was denied: the rule ${rule} in the settings forbids it. Do not try to reach the same in another way. If the task needs it, say so to the user.`

describe('a hard link to a denied file', () => {
  const rule = 'Read(.env)'
  const setLinks = async () => {
    const bench = await setBench({ startMode: 'allow', permissions: { deny: [rule] } })
    bench.write('deep/.env', 'KEY=topsecret\n')
    bench.write('a.txt', 'KEY=harmless\n')
    linkSync(join(bench.folder, 'deep/.env'), join(bench.folder, 'notes.txt'))
    linkSync(join(bench.folder, 'a.txt'), join(bench.folder, 'b.txt'))
    symlinkSync('notes.txt', join(bench.folder, 'soft.txt'))
    return bench
  }

  test('is not read, and one to another file is', async () => {
    const bench = await setLinks()
    expect(await bench.say('Read', { file_path: 'notes.txt' })).toBe(forbidden(rule))
    expect(await bench.say('Read', { file_path: 'soft.txt' })).toBe(forbidden(rule))
    expect(await bench.say('Grep', { pattern: 'KEY', path: 'notes.txt' })).toBe(forbidden(rule))
    expect(await bench.say('Read', { file_path: 'b.txt' })).toContain('KEY=harmless')
  })

  test('is left out of searches', async () => {
    const bench = await setLinks()
    const found = await bench.say('Grep', { pattern: 'KEY', output_mode: 'content' })
    expect(found.split('\n').sort()).toEqual(['a.txt:1:KEY=harmless', 'b.txt:1:KEY=harmless'])
    // A link that was made after a search counts in the next one.
    linkSync(join(bench.folder, 'deep/.env'), join(bench.folder, 'later.txt'))
    expect((await bench.say('Glob', { pattern: '*' })).split('\n').sort()).toEqual(['a.txt', 'b.txt'])
  })

  test('is not read by a command that names it, also by a pattern or through a link', async () => {
    const bench = await setLinks()
    for (const command of ['cat notes.txt', 'cat n*.txt', 'cat soft.txt', 'cd deep && cat ../notes.txt'])
      expect([command, await bench.say('Bash', { command })]).toEqual([command, forbidden(rule)])
    expect(await bench.say('Bash', { command: 'cat b.txt' })).toContain('KEY=harmless')
  })

  test('is no file with instructions', () => {
    const folder = temporary()
    writeFileSync(join(folder, '.env'), 'KEY=topsecret\n')
    linkSync(join(folder, '.env'), join(folder, 'AGENTS.md'))
    writeFileSync(join(folder, 'CLAUDE.md'), 'Use tabs.\n')
    linkSync(join(folder, 'CLAUDE.md'), join(folder, 'CLAUDE.local.md'))
    expect(memoryFiles({ home: join(folder, 'home'), folder, deny: [rule] })).toEqual([
      { path: join(folder, 'CLAUDE.md'), text: 'Use tabs.\n' },
    ])
  })
})

test('a hard link to a file that may not be changed is not changed', async () => {
  const bench = await setBench({ startMode: 'allow', permissions: { deny: ['Edit(/locked/**)'] } })
  bench.write('locked/a', 'old\n')
  linkSync(join(bench.folder, 'locked/a'), join(bench.folder, 'b'))
  expect(await bench.say('Read', { file_path: 'b' })).toContain('old')
  expect(await bench.say('Write', { file_path: 'b', content: 'new\n' })).toBe(forbidden('Edit(/locked/**)'))
  expect(bench.read('locked/a')).toBe('old\n')
})

test('rules of every form cover other names of their files, wherever the files are', () => {
  const outside = temporary()
  const root = join(outside, 'work')
  mkdirSync(join(root, 'keys/deep'), { recursive: true })
  vi.stubEnv('HOME', outside)
  for (const name of ['.env', 'keys/deep/main.pem', 'k[1]', '../secret.pem']) {
    writeFileSync(join(root, name), 'x')
    linkSync(join(root, name), join(root, `link-${name.replaceAll(/\W/g, '')}`))
  }
  const decided = (rule: string, path: string) => {
    const place = { path, real: path, shown: path, isInside: true, leadsOut: false }
    const { rules } = parseRules({ deny: [rule] })
    return decide({ type: 'read', tool: 'Read', place }, { mode: 'allow', rules, root, disk }).type
  }
  const links = ['link-env', 'link-keysdeepmainpem', 'link-k1', 'link-secretpem'].map((name) => join(root, name))
  const table = (rule: string) => links.map((path) => decided(rule, path))
  const [deny, allow] = ['deny', 'allow']
  expect([
    table('Read(.env)'),
    table('Read(/.env)'),
    table('Read(./.env)'),
    table('Read(*.pem)'),
    table('Read(/keys/**)'),
    table('Read(keys/)'),
    table('Read(/keys/*/main.pem)'),
    table('Read(k\\[1\\])'),
    table(`Read(/${outside}/secret.pem)`),
    table('Read(~/*.pem)'),
    table('Edit(.env)'),
    table('Read(missing/**)'),
  ]).toEqual([
    [deny, allow, allow, allow],
    [deny, allow, allow, allow],
    [deny, allow, allow, allow],
    [allow, deny, allow, allow],
    [allow, deny, allow, allow],
    [allow, deny, allow, allow],
    [allow, deny, allow, allow],
    [allow, allow, deny, allow],
    [allow, allow, allow, deny],
    [allow, allow, allow, deny],
    [allow, allow, allow, allow],
    [allow, allow, allow, allow],
  ])
  vi.unstubAllEnvs()
})

describe('looking for the denied files', () => {
  /** All files have these identities, and a look at them is counted. */
  function counting(identities: Readonly<Record<string, string>>, isCut = false) {
    const looks: string[] = []
    const counted: Disk = {
      ...disk,
      identity: (path) => identities[path],
      filesBelow: (folder) => {
        looks.push(folder)
        return { files: Object.keys(identities), isCut }
      },
    }
    return { looks, counted }
  }
  const place = (path: string) => ({ path, real: path, shown: path, isInside: true, leadsOut: false })

  test('happens once for all rules, and only for a file with several names', () => {
    const { looks, counted } = counting({ '/w/a': '1:1', '/w/.env': '1:2' })
    const { rules } = parseRules({ deny: ['Read(.env)', 'Read(*.pem)', 'Bash(rm:*)', 'WebFetch'] })
    const decided = (path: string) =>
      decide({ type: 'read', tool: 'Read', place: place(path) }, { mode: 'ask', rules, root: '/w', disk: counted }).type
    expect([decided('/w/one-name'), looks]).toEqual(['allow', []])
    expect([decided('/w/a'), looks]).toEqual(['allow', ['/w']])
  })

  test('among too many files leaves a doubt, and then somebody is asked', () => {
    const { counted } = counting({ '/w/a': '1:1' }, true)
    const { rules } = parseRules({ deny: ['Read(.env)'] })
    const options = { mode: 'allow', rules, root: '/w', disk: counted } as const
    const why = 'Read(.env) may forbid it: /w/a has several names, and too many files may be the same'
    expect(decide({ type: 'read', tool: 'Read', place: place('/w/a') }, options)).toMatchObject({ reason: why })
    expect(decide({ type: 'run', script: readScript('cat a') }, options)).toMatchObject({ type: 'ask', reason: why })
    expect(decide({ type: 'read', tool: 'Read', place: place('/w/b') }, options).type).toBe('allow')
  })

  test('stops exactly after the limit', () => {
    const folder = temporary()
    mkdirSync(join(folder, 'b'))
    for (const name of ['a', 'b/c', 'b/d']) writeFileSync(join(folder, name), '')
    const names = (max: number) => {
      const { files, isCut } = disk.filesBelow(folder, max)
      return [files.length, isCut]
    }
    expect([names(4), names(3), names(0)]).toEqual([
      [3, false],
      [2, true],
      [0, true],
    ])
    expect(disk.filesBelow(join(folder, 'a'), 1)).toEqual({ files: [join(folder, 'a')], isCut: false })
  })

  test('does not follow links to folders', () => {
    const folder = temporary()
    symlinkSync('.', join(folder, 'self'))
    writeFileSync(join(folder, 'a'), '')
    const covers = () => true
    expect(otherNamesOf({ pattern: 'x', covers }, folder, disk)(join(folder, 'a'))).toEqual({ type: 'no' })
    expect(disk.filesBelow(folder, 10)).toEqual({ files: [join(folder, 'a')], isCut: false })
  })
})
