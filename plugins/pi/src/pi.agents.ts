// The extension in the real pi, without a person and without a network: the model is the simulator, the home folder is
// empty. `npm run test:agents` installs pi and runs this.
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningServer, type Script, type ScriptRequest, startServer, text, toolUse } from '@everlong/simulator'
import type { Message } from 'everlong'
import { blocksOf, isToolResult, type JsonObject, objectAt, textOf } from 'everlong/internal'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { everythingIn, root, searchPath } from '../../testing/agent.ts'
import { rule, wish } from '../../testing/headless.ts'
import { type Conversation, openConversation } from './testing/conversation.ts'

const program = join(root, '.everlong/agents/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js')
const summary = '1. Primary request and intent:\n   The reports were read, and their totals are in cents.'
const filler = 'The report lists every order of the month with its total in cents. '

/** Forgets everything when it summarizes, reads a file when asked to, and searches the archive when asked to. */
const script: Script = (request) => {
  requests.push(request)
  const isSaid = ({ role, content }: Message) => role === 'user' && !blocksOf(content).some(isToolResult)
  const last = textOf(request.messages.findLast(isSaid)?.content)
  if (last.includes('<analysis>')) return text(`<analysis>x</analysis><summary>\n${summary}\n</summary>`)
  const isAnswered = blocksOf(request.messages.at(-1)?.content).some(isToolResult)
  if (last.includes('Look it up') && !isAnswered) return toolUse('recall', { query: 'column total' })
  const reads = request.messages.flatMap(({ content }) => blocksOf(content).filter(isToolResult)).length
  if (last.includes('Read it often') && reads < 12) return toolUse('read', { path: 'report.txt' })
  if (last.includes('Read it.') && !isAnswered) return toolUse('read', { path: 'report.txt' })
  return text('Done.')
}

const requests: ScriptRequest[] = []
let server: RunningServer
let folder: string
let home: string
let project: string

beforeAll(async () => {
  server = await startServer({ script, port: 0 })
})
afterAll(() => server?.close())

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-pi-'))
  home = join(folder, 'home')
  project = join(folder, 'project')
  for (const path of [home, project]) mkdirSync(path)
  writeFileSync(join(project, 'report.txt'), filler.repeat(600))
  requests.length = 0
  return () => rmSync(folder, { recursive: true, force: true })
})

/** pi in its RPC mode: one process for several prompts. */
function converse(more: NodeJS.ProcessEnv = {}): Conversation {
  return openConversation([program, '--mode', 'rpc', ...words], { cwd: project, env: { ...environment(), ...more } })
}

/** A session with the extension, compacted once by hand. */
async function withCompaction(then: (pi: Conversation) => Promise<void> = async () => undefined): Promise<void> {
  configure()
  await everlong('install', 'pi')
  const pi = converse()
  await pi.prompt(`Look at the reports. ${rule} ${filler.repeat(200)}`)
  await pi.prompt(`${wish} ${filler.repeat(30)}`)
  expect(await pi.compact()).toMatchObject({ success: true })
  await then(pi)
  await pi.end()
}

/** Skipped where pi could not be installed. */
const inPi = test.skipIf(!existsSync(program))

const agentFolder = () => join(home, '.pi/agent')
const sessionFile = () => globSync(join(agentFolder(), 'sessions/*/*.jsonl'))[0] ?? ''
const records = (): readonly JsonObject[] =>
  readFileSync(sessionFile(), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
const said = (request: ScriptRequest | undefined) => request?.messages.map(({ content }) => textOf(content)).join('\n')
const sinceLast = () => requests.splice(0)

/** The simulator instead of Anthropic, and a compaction that keeps little. */
function configure(more: JsonObject = {}): void {
  mkdirSync(agentFolder(), { recursive: true })
  const providers = { anthropic: { baseUrl: server.url, apiKey: 'none', ...more } }
  writeFileSync(join(agentFolder(), 'models.json'), JSON.stringify({ providers }))
  writeFileSync(join(agentFolder(), 'settings.json'), JSON.stringify({ compaction: { keepRecentTokens: 200 } }))
}

const environment = () => ({ PATH: searchPath, HOME: home, PI_OFFLINE: '1' })
const words = ['--model', 'anthropic/claude-sonnet-4-5', '--thinking', 'off']

async function everlong(...command: readonly string[]): Promise<string> {
  const run = promisify(execFile)(join(root, 'everlong'), [...command], { cwd: project, env: environment() })
  return (await run).stdout
}

async function say(prompt: string, ...options: readonly string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [program, '-p', ...words, ...options, '--', prompt], {
    ...{ cwd: project, env: environment(), timeout: 120_000 },
  })
  run.child.stdin?.end()
  return (await run).stdout
}

inPi(
  'pi compacts by itself, with our summary and the words of the user, and the agent can look up the rest',
  async () => {
    // A window in which the conversation gets too large with its third prompt.
    configure({ modelOverrides: { 'claude-sonnet-4-5': { contextWindow: 24_000 } } })
    await everlong('install', 'pi')
    const pi = converse()
    await pi.prompt(`Look at the reports. ${rule}`)
    await pi.prompt(wish)
    await pi.prompt('Read it.')
    await pi.prompt('Go on.')
    const [next] = sinceLast().filter((request) => said(request)?.endsWith('Go on.'))
    expect(records().filter(({ type }) => type === 'compaction')).toMatchObject([{ fromHook: true }])
    expect(said(next)).toContain(summary)
    expect(said(next)).toContain(rule)
    expect(said(next)).toContain(wish)
    expect(said(next)).not.toContain(filler.repeat(600))

    await pi.prompt('Look it up.')
    const results = sinceLast().flatMap(({ messages }) =>
      messages.flatMap(({ content }) => blocksOf(content).filter(isToolResult)),
    )
    expect(JSON.stringify(results)).toContain(wish)
    await pi.end()
  },
)

inPi('the summary is one call, and the conversation in it is read from the prompt cache', async () => {
  await withCompaction()
  expect(sinceLast().filter((request) => said(request)?.includes('<analysis>'))).toHaveLength(1)
  const [compaction] = records().filter(({ type }) => type === 'compaction')
  expect(compaction).toMatchObject({
    usage: { input: 0, cacheRead: expect.toSatisfy((tokens: number) => tokens > 3_000) },
    details: { everlong: { compaction: { mechanism: 'cache-sharing' } } },
  })
})

inPi('the commands search the session and take a compaction back, also for the next start of pi', async () => {
  await withCompaction(async (pi) => {
    expect(await pi.command('/everlong lost')).toContain('Nothing was lost')
    expect(await pi.command('/everlong recall schema.sql')).toContain(rule)
    expect(await pi.command('/everlong undo')).toContain('The compaction is undone')
  })
  sinceLast()
  await say('Go on.', '--continue')
  const [next] = sinceLast()
  expect(said(next)).not.toContain(summary)
  expect(said(next)).toContain(wish)
})

inPi('a compaction that is not worth it is left to pi, and what its summary lost is shown', async () => {
  configure()
  await everlong('install', 'pi')
  const pi = converse()
  await pi.prompt(`Look at the reports. ${rule}`)
  await pi.prompt(`${wish} ${filler.repeat(60)}`)
  await pi.compact()
  expect(records().filter(({ type }) => type === 'compaction')).toMatchObject([{ fromHook: false }])
  expect(await pi.command('/everlong lost')).toContain(rule)
  await pi.end()
})

inPi('old tool results are cleared for good, and the agent can read them again', async () => {
  configure()
  await everlong('install', 'pi')
  const pi = converse({ EVERLONG_MICRO: 'always' })
  await pi.prompt('Read it often.')
  await pi.end()
  const edits = records().filter(({ type }) => type === 'context_edit')
  const results = records().filter((record) => objectAt(record, 'message')?.role === 'toolResult')
  expect(results).toHaveLength(12)
  expect(edits.length).toBeGreaterThan(3)
  expect(results.map(({ id }) => id)).toEqual(expect.arrayContaining(edits.map(({ targetId }) => targetId)))
  sinceLast()

  await everlong('uninstall', 'pi')
  await say('Go on.', '--continue')
  const sent = sinceLast()[0]?.messages.flatMap(({ content }) => blocksOf(content).filter(isToolResult)) ?? []
  const cleared = sent.filter(({ content }) => textOf(blocksOf(content)).includes('Recall it by its id'))
  expect(cleared).toHaveLength(edits.length)
})

inPi('without the extension pi opens the session as well', async () => {
  await withCompaction()
  await everlong('uninstall', 'pi')
  sinceLast()
  expect(await say('Go on.', '--continue')).toBe('Done.\n')
  const [next] = sinceLast()
  expect(said(next)).toContain(summary)
  expect(said(next)).toContain(rule)
})

inPi('a session that everlong compact compacted goes on from its summary', async () => {
  configure()
  await say(`Look at the reports. ${rule} ${filler.repeat(200)}`)
  await say(wish, '--continue')
  sinceLast()
  await everlong('compact', sessionFile(), '--append', '--model', 'offline')
  expect(await say('Go on.', '--continue')).toBe('Done.\n')
  const [next] = sinceLast()
  expect(said(next)).toContain('This conversation continues from an earlier one')
  expect(said(next)).toContain(rule)
  expect(said(next)).toContain(wish)
  expect(next?.messages).toHaveLength(1)
  expect(JSON.stringify(next?.system)).toContain('coding assistant')
})

inPi('uninstalling leaves the home folder as it was', async () => {
  configure()
  // pi writes some files of its own when it first runs.
  await say('Hello.', '--no-session')
  const before = everythingIn(home)
  await everlong('install', 'pi')
  expect(await say('Look it up.', '--no-session')).toBe('Done.\n')
  await say(`Look at the reports. ${rule}`)
  await say('Look it up.', '--continue')
  expect(existsSync(join(agentFolder(), 'everlong'))).toBe(true)
  await everlong('uninstall', 'pi')
  rmSync(join(agentFolder(), 'sessions'), { recursive: true })
  expect(everythingIn(home)).toEqual(before)
  expect(readdirSync(project)).toEqual(['report.txt'])
})
