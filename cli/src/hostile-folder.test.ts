// Every command on a folder of hostile files: it ends with a report or one clear line, and nothing of a file takes over
// the terminal. Then the same folder as real processes meet it: the launcher, the official MCP client, a live session.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asksForSummary, createSimulator, route, summarizer, text } from '@everlong/simulator'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { anthropic } from 'everlong/anthropic'
import { createEngine } from 'everlong/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everlong, type Ran } from './testing/harness.ts'
import { controls, type HostileFolder, writeHostileFolder } from './testing/hostile-folder.ts'

const home = mkdtempSync(join(tmpdir(), 'everlong-hostile-'))
const folder = join(home, 'sessions')
const cache = join(home, 'cache')
const program = join(import.meta.dirname, 'main.ts')
const cacheBefore = process.env.EVERLONG_CACHE_DIR

let hostile: HostileFolder
beforeAll(() => {
  process.env.EVERLONG_CACHE_DIR = cache
  hostile = writeHostileFolder(folder)
})
afterAll(() => {
  if (cacheBefore === undefined) delete process.env.EVERLONG_CACHE_DIR
  else process.env.EVERLONG_CACHE_DIR = cacheBefore
  chmodSync(join(folder, 'locked'), 0o700)
  rmSync(home, { recursive: true })
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/

/** The problem with how a command ended, as a sentence. Undefined if there is none. */
function fault({ exitCode, stdout, stderr }: Ran): string | undefined {
  if (exitCode !== 0 && exitCode !== 1) return `exit code ${exitCode}: ${stderr}`
  if (!/^(everlong: [^\n]+\n)?$/.test(stderr)) return `not one line: ${stderr.slice(0, 200)}`
  if (stderr.includes('should not have happened')) return stderr
  if (exitCode === 1 && stderr === '' && stdout === '') return 'failed without a word'
  const control = unsafe.exec(stdout + stderr)
  return control ? `a control character at ${control.index} of ${JSON.stringify(stdout.slice(0, 200))}` : undefined
}

/** By file and command, of those that did not end as they have to. */
async function faultsOf(
  paths: readonly string[],
  ...words: readonly (readonly string[])[]
): Promise<readonly string[]> {
  const found: string[] = []
  for (const path of paths) {
    for (const [name = '', ...rest] of words) {
      const trouble = fault(await everlong([name, path, ...rest]))
      if (trouble !== undefined) found.push(`${name} ${path}: ${trouble}`)
    }
  }
  return found
}

const looking = 'inspect epochs tree context explain micro stats lost fsck memory compact'.split(' ')
const everyWay = [
  ...looking.flatMap((name) => [[name], [name, '--json']]),
  ['recall', 'walrus'],
  ['compact', '--dry-run'],
]

describe('in a folder of hostile files', () => {
  test('every command comes to an end on every file, with a report or one clear line', async () => {
    expect(await faultsOf([...hostile.files.map(({ path }) => path), ...hostile.notFiles], ...everyWay)).toEqual([])
  }, 120_000)

  test('every command that edits a session does so too, and what was in the file stays as it was', async () => {
    const faults: string[] = []
    const names = ['snip', 'rewind', 'pin', 'unpin'] as const
    const edited = new Set<string>()
    const copy = join(home, 'edited.jsonl')
    for (const { path, bytes } of hostile.files) {
      const { exitCode, stdout } = await everlong(['tree', path, '--json'])
      const lines: readonly { readonly uuid?: string }[] = exitCode === 0 ? JSON.parse(stdout).lines : []
      const uuids = lines.flatMap(({ uuid }) => uuid ?? [])
      const [first, middle, last] = [uuids[0], uuids[Math.floor(uuids.length / 2)], uuids.at(-1)]
      const chosen = [...new Set([first, middle, last, `nobody${controls}`])].filter((uuid) => uuid !== undefined)
      for (const name of names) {
        for (const uuid of chosen) {
          writeFileSync(copy, bytes)
          // What is not pinned cannot be unpinned.
          if (name === 'unpin') await everlong(['pin', copy, uuid])
          const ran = await everlong([name, copy, uuid, ...(name === 'snip' ? [uuid] : [])])
          const kept = readFileSync(copy).subarray(0, Buffer.from(bytes).length)
          const trouble = fault(ran) ?? (kept.equals(Buffer.from(bytes)) ? undefined : 'what was there has changed')
          if (trouble !== undefined) faults.push(`${name} ${path} ${JSON.stringify(uuid)}: ${trouble}`)
          if (ran.exitCode === 0) edited.add(name)
        }
      }
    }
    expect(faults).toEqual([])
    expect([...edited].toSorted()).toEqual([...names].toSorted())
  }, 120_000)

  test('what is no transcript is said to be none by every command, and what is one is read', async () => {
    const wrong: string[] = []
    for (const { path, isTranscript } of hostile.files) {
      for (const name of ['inspect', 'tree', 'stats', 'lost', 'recall']) {
        const { stderr } = await everlong([name, path, ...(name === 'recall' ? ['walrus'] : [])])
        const isRefused = / is empty\.| does not look like a transcript/.test(stderr)
        if (isRefused === isTranscript) wrong.push(`${name} ${path}: ${stderr}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('looking at files leaves the folder as it was', () => {
    const names = [...hostile.files.map(({ path }) => path), ...hostile.notFiles].map((path) =>
      path.slice(folder.length + 1),
    )
    const expected = [...names, 'locked', 'ring', 'unreadable.jsonl', 'name\u001b[31m\u202e.jsonl']
    expect(readdirSync(folder).toSorted()).toEqual(expected.toSorted())
    for (const { path, bytes } of hostile.files) expect(readFileSync(path).equals(Buffer.from(bytes))).toBe(true)
  })

  test('a repaired copy of every transcript is sound, and has what could be read of it', async () => {
    for (const { path, isTranscript } of hostile.files) {
      const out = join(home, 'repaired.jsonl')
      const { exitCode } = await everlong(['repair', path, '--out', out])
      if (!isTranscript) continue
      const { stdout } = await everlong(['fsck', out, '--json'])
      expect({ path, exitCode, errors: JSON.parse(stdout).errors }).toEqual({ path, exitCode: 0, errors: 0 })
      rmSync(out)
    }
  })

  test('recall over the whole folder finds what every transcript says', async () => {
    const missing: string[] = []
    for (const { name } of hostile.files.filter(({ isTranscript }) => isTranscript)) {
      const { exitCode, stdout, stderr } = await everlong(['recall', folder, `"walrus of ${name}"`])
      if (exitCode !== 0 || stderr !== '' || unsafe.test(stdout)) missing.push(`${name}: ${stderr}`)
    }
    expect(missing).toEqual([])
  })
})

type ToolAnswer = { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] }

test('the official MCP client gets an answer to every search and every read over the whole folder', async () => {
  const client = new Client({ name: 'a test', version: '1' })
  const env = { EVERLONG_CACHE_DIR: join(home, 'mcp-cache') }
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, 'mcp', folder], env, stderr: 'pipe' }),
  )
  const call = async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })) as unknown as ToolAnswer
  try {
    const missing: string[] = []
    for (const { name } of hostile.files.filter(({ isTranscript }) => isTranscript)) {
      const found = await call('search', { query: `"walrus of ${name}"` })
      const id = /^1\. (\S+) · /m.exec(found.content[0]?.text ?? '')?.[1]
      const read = await call('read', { id: id ?? '' })
      if (found.isError || read.isError || !read.content[0]?.text.includes(`walrus of ${name}`)) missing.push(name)
    }
    expect(missing).toEqual([])
    const wrong = await call('read', { id: '../../victim/t1' })
    expect([wrong.isError, (await call('search', { query: '\ud800 "NEAR( \u0000' })).isError]).toEqual([false, false])
  } finally {
    await client.close()
  }
}, 60_000)

test('a live session that is shown every file can continue, be compacted and recall what it saw', async () => {
  const model = 'claude-sonnet-4-6'
  const script = route([{ when: asksForSummary, script: summarizer() }], () => text('I have read it.'))
  const simulator = createSimulator({ script, windows: { [model]: 200_000 } })
  const engine = createEngine({
    model: anthropic({ model, apiKey: 'none', fetch: simulator.fetch }),
    settings: { contextWindow: 200_000, maxOutputTokens: 8_000 },
    environment: {},
  })
  const session = await engine.start({ path: join(home, 'live.jsonl'), maxTokens: 1_000 })
  session.add({ role: 'user', content: 'Read every file. Never wake the owl.' })
  for (const [at, { path, bytes }] of hostile.files.entries()) {
    const id = `toolu_${at}`
    session.record({ content: [{ type: 'tool_use', id, name: 'Read', input: { file_path: path } }] })
    const content = Buffer.from(bytes).toString('utf8').slice(0, 20_000)
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] })
    expect([path, (await session.send()).type]).toEqual([path, 'answered'])
    session.add({ role: 'user', content: `Go on from file ${at}.` })
  }
  expect((await session.compact()).type).toBe('compacted')
  expect((await session.send()).type).toBe('answered')
  expect((await session.recall('walrus')).matches.length).toBeGreaterThan(0)
  await session.close()
}, 60_000)

/** Root may read everything, so files that nobody may read are tried as nobody, where this machine allows it. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const isTryable = spawnSync(process.execPath, ['-e', `fs.accessSync(${JSON.stringify(program)})`], nobody).status === 0

/** Runs the commands one after the other in one process of that user, because starting it takes longer than they do. */
function runAsNobody(...commands: readonly (readonly string[])[]): readonly Ran[] {
  const script = `
    import { everlong } from ${JSON.stringify(join(import.meta.dirname, 'testing/harness.ts'))}
    const results = []
    for (const words of ${JSON.stringify(commands)}) results.push(await everlong(words, { env: { COLUMNS: '120' } }))
    console.log(JSON.stringify(results))`
  const env = { ...process.env, EVERLONG_CACHE_DIR: join(home, 'own-cache') }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    ...nobody,
    env,
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

test.runIf(isTryable)(
  'files and folders that may not be read are named, and cost nothing else',
  () => {
    chmodSync(home, 0o755)
    const unreadable = join(folder, 'unreadable.jsonl')
    const [stats, found, ...refused] = runAsNobody(
      ['inspect', folder],
      ['recall', folder, '"walrus of plain"'],
      ['inspect', unreadable],
      ['compact', unreadable],
      ['recall', unreadable],
    )
    const noPermission = `everlong: ${unreadable}: permission denied. Run as another user, or change the mode.\n`
    expect(refused).toEqual(Array(3).fill({ exitCode: 1, stdout: '', stderr: noPermission }))
    expect(stats && fault(stats)).toBe(undefined)
    expect(stats?.stdout).toContain('Could not be read: 2')
    expect([found?.exitCode, found?.stderr]).toEqual([0, ''])
    expect(found?.stdout).toContain('The walrus of plain must stay.')
  },
  60_000,
)
