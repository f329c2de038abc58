import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { syntheticRepository, text, agent as worker } from '@everlong/simulator'
import type { ModelRequest, Workspace } from 'everlong'
import { isObject } from 'everlong/internal'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { agentStages } from '../testing/agent-stage.ts'
import { repositoryTools } from '../testing/stage.ts'
import { createEnvironmentNews } from './environment.ts'
import { memoryFiles, nestedMemoryFiles } from './memory-files.ts'

const root = mkdtempSync(join(tmpdir(), 'everlong-context-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let count = 0

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = join(root, String(++count))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

describe('instruction files', () => {
  test('come from the person, then from the root of the repository down to the folder', () => {
    const base = folderWith({
      'home/AGENTS.md': 'mine',
      'repo/.git/HEAD': '',
      'repo/AGENTS.md': 'of the repository',
      'repo/CLAUDE.md': 'of the repository',
      'repo/packages/a/CLAUDE.md': 'of the package',
      'repo/packages/a/src/AGENTS.md': 'of its sources',
      'AGENTS.md': 'outside',
    })
    const found = memoryFiles({ home: join(base, 'home'), folder: join(base, 'repo/packages/a'), deny: [] })
    expect(found).toEqual([
      { path: join(base, 'home/AGENTS.md'), text: 'mine' },
      { path: join(base, 'repo/AGENTS.md'), text: 'of the repository' },
      { path: join(base, 'repo/packages/a/CLAUDE.md'), text: 'of the package' },
    ])
  })

  test('include others by a line, but nothing outside, and not in code', () => {
    const base = folderWith({
      'repo/CLAUDE.md': '@AGENTS.md\n@../secret.md\n```\n@AGENTS.md\n```\n@CLAUDE.md',
      'repo/AGENTS.md': 'be strict',
      'secret.md': 'a secret',
    })
    const texts = memoryFiles({ home: join(base, 'home'), folder: join(base, 'repo'), deny: [] }).map(
      (file) => file.text,
    )
    expect(texts[1]).toContain('be strict\n@../secret.md\n```\n@AGENTS.md\n```')
    expect(texts.join()).not.toContain('a secret')
  })

  test('include one another to a depth of five, and count up to 256 KB', () => {
    const chain = [1, 2, 3, 4, 5, 6].map((at) => [`repo/${at}.md`, `text ${at}\n@${at + 1}.md`])
    const base = folderWith({
      'repo/AGENTS.md': '@1.md',
      ...Object.fromEntries(chain),
      'repo/CLAUDE.md': 'x'.repeat(256 * 1024),
      'repo/CLAUDE.local.md': 'y'.repeat(256 * 1024 + 1),
    })
    const found = memoryFiles({ home: join(base, 'home'), folder: join(base, 'repo'), deny: [] })
    expect(found.map(({ text: words }) => words)).toEqual([
      'text 1\ntext 2\ntext 3\ntext 4\ntext 5\n@6.md',
      'x'.repeat(256 * 1024),
    ])
  })

  test('are not read through a link that leads out', () => {
    const base = folderWith({ 'secret.md': 'a secret', 'repo/x': '' })
    symlinkSync(join(base, 'secret.md'), join(base, 'repo/AGENTS.md'))
    expect(memoryFiles({ home: join(base, 'home'), folder: join(base, 'repo'), deny: [] })).toEqual([])
  })

  test('and what they include are not read where a rule denies it, also through a link and above the folder', () => {
    const base = folderWith({
      'repo/.git/HEAD': '',
      'repo/AGENTS.md': 'of the repository\n@.env',
      'repo/.env': 'KEY=of-the-repository',
      'repo/a/AGENTS.md': 'of the folder\n@.env\n@link.md\n@notes.md',
      'repo/a/.env': 'KEY=of-the-folder',
      'repo/a/notes.md': 'notes\n@private/key.md',
      'repo/a/private/key.md': 'a private key',
      'repo/a/private/AGENTS.md': 'private instructions',
      'repo/a/b/AGENTS.md': 'nested\n@../.env',
    })
    const folder = join(base, 'repo/a')
    symlinkSync('.env', join(folder, 'link.md'))
    const deny = ['Read(.env)', 'Read(/private/**)']
    const found = memoryFiles({ home: join(base, 'home'), folder, deny }).map((file) => file.text)
    expect(found).toEqual(['of the repository\n@.env', 'of the folder\n@.env\n@link.md\nnotes\n@private/key.md'])
    expect(nestedMemoryFiles({ folder, deny }, 'private/x.ts')).toEqual([])
    expect(nestedMemoryFiles({ folder, deny }, 'b/x.ts').map((file) => file.text)).toEqual(['nested\n@../.env'])
  })

  test('with secrets are not read, unless a rule allows it', () => {
    const base = folderWith({
      'home/AGENTS.md': 'mine\n@.env',
      'home/.env': 'KEY=mine',
      'repo/AGENTS.md': 'rules\n@.env\n@.env.example\n@link.md\n@a/../.env',
      'repo/.env': 'KEY=secret',
      'repo/.env.example': 'KEY=',
      'repo/a/.env.local': 'KEY=local',
    })
    const folder = join(base, 'repo')
    symlinkSync('.env', join(folder, 'link.md'))
    symlinkSync('.env', join(folder, 'CLAUDE.md'))
    symlinkSync('.env.local', join(folder, 'a/AGENTS.md'))
    const texts = (lists: { readonly allow?: readonly string[] }) => {
      const rules = { folder, deny: [], ...lists }
      const found = [...memoryFiles({ home: join(base, 'home'), ...rules }), ...nestedMemoryFiles(rules, 'a/x.ts')]
      return found.map((file) => file.text)
    }
    expect(texts({})).toEqual(['mine\n@.env', 'rules\n@.env\nKEY=\n@link.md\n@a/../.env'])
    expect(texts({ allow: ['Read(src/**)'] })).toEqual(texts({}))
    expect(texts({ allow: ['Read(/.env)'] })).toEqual([
      'mine\n@.env',
      'rules\nKEY=secret\nKEY=\nKEY=secret\nKEY=secret',
      'KEY=secret',
    ])
    expect(texts({ allow: ['Read(.env.local)'] })).toEqual([...texts({}), 'KEY=local'])
  })

  test('of folders on the way to a file are found, outermost first', () => {
    const folder = folderWith({ 'AGENTS.md': 'root', 'a/AGENTS.md': 'a', 'a/b/CLAUDE.md': 'b', 'c/AGENTS.md': 'c' })
    const textsFor = (file: string) => nestedMemoryFiles({ folder, deny: [] }, file).map(({ text: words }) => words)
    expect([textsFor('a/b/main.ts'), textsFor('main.ts'), textsFor('../main.ts')]).toEqual([['a', 'b'], [], []])
  })
})

test('date and git are reported once, and again when they change or were forgotten', async () => {
  let now = Date.parse('2026-03-02T10:00:00Z')
  const news = createEnvironmentNews({
    now: () => now,
    workspace: { state: async () => ({ type: 'unknown', why: 'the folder is not in a git repository' }) },
  })
  const first = await news.next()
  expect(first?.content).toBe('Date: 2026-03-02\nGit: the folder is not in a git repository')
  expect(await news.next()).toBeUndefined()
  now += 24 * 3_600_000
  expect((await news.next())?.content).toContain('Date: 2026-03-03')
  news.forget()
  expect((await news.next())?.content).toContain('Date: 2026-03-03')
})

test('another branch is told, and other changes in it are not', async () => {
  const none = { items: [], count: 0 }
  const clean = {
    type: 'state',
    staged: none,
    unstaged: none,
    untracked: none,
    conflicts: none,
    isPartial: false,
  } as const
  let state: Awaited<ReturnType<Workspace['state']>> = { ...clean, branch: 'main' }
  const news = createEnvironmentNews({ now: () => 0, workspace: { state: async () => state } })
  expect((await news.next())?.content).toContain('On branch main')
  state = { ...state, untracked: { items: [{ path: 'a.ts' }], count: 1 } }
  expect(await news.next()).toBeUndefined()
  state = { ...clean, branch: 'fix' }
  expect((await news.next())?.content).toContain('On branch fix')
})

test.each([
  ['Pacific/Kiritimati', '2026-03-03'],
  ['Pacific/Pago_Pago', '2026-03-02'],
])('the date is the one in %s', async (zone, day) => {
  vi.stubEnv('TZ', zone)
  try {
    const workspace = { state: async () => ({ type: 'unknown', why: 'no git' }) as const }
    const news = createEnvironmentNews({ now: () => Date.parse('2026-03-02T23:00:00Z'), workspace })
    expect((await news.next())?.content).toBe(`Date: ${day}\nGit: no git`)
  } finally {
    vi.unstubAllEnvs()
  }
})

const stage = agentStages()

/** Without marks: they move, and are no part of what is cached. */
function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key]) => key !== 'cache_control')
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutMarks(item)]))
}

function prefixOf({ system, tools, messages }: ModelRequest, length: number): string {
  return JSON.stringify(withoutMarks({ tools, system, messages: blocksIn(messages.slice(0, length)) }))
}

/** A string and a single text block are the same to the API. */
function blocksIn(messages: ModelRequest['messages']): unknown {
  return messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  }))
}

describe('the cached prefix', () => {
  test('is the same, byte for byte, in every request of many turns and after a resume', async () => {
    const repository = syntheticRepository({ seed: 5, files: 12 })
    const set = await stage({
      script: worker({ repository, seed: 2, turnsPerTask: 6 }),
      tools: repositoryTools(repository),
      prepare: ({ folder }) => writeFileSync(join(folder, 'AGENTS.md'), 'Never guess.'),
      // Clearing results between turns changes the prefix on purpose.
      settings: { engine: { reductions: { microCompact: false } } },
    })
    for (const words of ['Fix the first bug.', 'And the next.']) await set.agent.submit({ text: words })
    const path = set.agent.session().path ?? ''
    await set.agent.close()
    const later = await set.again({ session: { type: 'open', path } })
    await later.agent.submit({ text: 'And the last.' })
    const requests = [...set.requests, ...later.requests]
    expect(requests.length).toBeGreaterThan(12)
    for (const [at, request] of requests.slice(1).entries()) {
      const before = requests[at] as ModelRequest
      const { length } = before.messages
      expect(prefixOf(request, length)).toBe(prefixOf(before, length))
    }
  })

  test('has a mark after the system prompt and at the end; what changes comes last', async () => {
    const set = await stage({
      script: () => text('Yes.'),
      prepare: ({ folder }) => writeFileSync(join(folder, 'AGENTS.md'), 'Never guess.'),
      agent: { now: () => Date.parse('2026-03-02T10:00:00Z') },
    })
    await set.agent.submit({ text: 'Ready?' })
    const shape = JSON.stringify(set.requests[0], undefined, 2)
      .replaceAll(set.folder, 'FOLDER')
      .replaceAll(process.platform, 'PLATFORM')
      .replace(/Git: [^\\]+/, 'Git: STATE')
    expect(shape).toMatchSnapshot()
  })
})
