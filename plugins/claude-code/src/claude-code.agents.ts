// The plug-in in the real Claude Code, without a person and without a network: the model is the simulator, the home folder
// is empty. `npm run test:agents` installs Claude Code and runs this.
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningServer, type Script, type ScriptRequest, startServer, text, toolUse } from '@everlong/simulator'
import { blocksOf, isToolResult, textOf } from 'everlong/transcript'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const claude = join(root, '.everlong/agents/node_modules/.bin/claude')
const plugin = join(root, 'plugins/claude-code')
const folder = mkdtempSync(join(tmpdir(), 'everlong-claude-code-'))
const project = join(folder, 'project')
const home = join(folder, 'home')
const rule = 'From now on never touch the file schema.sql.'
const wish = 'Rename the column total to amount in every report.'

const requests: ScriptRequest[] = []
let server: RunningServer

/** Forgets everything when it summarizes, and searches the archive when it is asked to. */
const script: Script = (request) => {
  requests.push(request)
  const last = textOf(request.messages.findLast(({ role }) => role === 'user')?.content)
  if (last.includes('<analysis>')) return text('<analysis>x</analysis><summary>1. The reports were read.</summary>')
  const search = request.tools.find(({ name }) => name.endsWith('everlong__search'))
  const hasLooked = request.messages.some(({ content }) => blocksOf(content).some(isToolResult))
  if (last.includes('Look it up') && search && !hasLooked) return toolUse(search.name, { query: 'column total' })
  return text('Done.')
}

beforeAll(async () => {
  for (const path of [project, home]) mkdirSync(path)
  server = await startServer({ script, port: 0 })
})

afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

// Hooks and servers run with the Node that is found first.
const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
const sinceLast = () => requests.splice(0)
const said = (request: ScriptRequest | undefined) => request?.messages.map(({ content }) => textOf(content)).join('\n')

async function say(prompt: string, ...options: readonly string[]): Promise<string> {
  const env = {
    ...{ PATH: path, HOME: home, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'none' },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1', ENABLE_TOOL_SEARCH: 'false' },
  }
  const words = ['-p', prompt, '--plugin-dir', plugin, '--dangerously-skip-permissions', ...options]
  const { stdout } = await promisify(execFile)(claude, words, { cwd: project, env, timeout: 120_000 })
  return stdout
}

test('what a compaction loses is in the next request, and older things can be looked up', async () => {
  await say(`Read the reports. ${rule}`)
  await say(wish, '--continue')
  sinceLast()

  await say('/compact', '--continue')
  const [compaction] = sinceLast()
  expect(said(compaction)).toContain('Write down word for word what the user asked')

  await say('Go on.', '--continue')
  const [next] = sinceLast().filter((request) => said(request)?.includes('Go on.'))
  expect(said(next)).toContain('1. The reports were read.')
  expect(said(next)).toContain(rule)
  expect(said(next)).toContain(wish)

  await say('Look it up.', '--continue')
  const found = sinceLast().flatMap(({ messages }) =>
    messages.flatMap(({ content }) => blocksOf(content).filter(isToolResult)),
  )
  expect(JSON.stringify(found)).toContain(wish)
})

test('nothing is left behind but the notes of the plug-in, and nothing waits', () => {
  const data = globSync(join(home, '.claude/plugins/data/everlong*'))
  expect(data).toHaveLength(1)
  expect(existsSync(join(data[0] ?? '', 'waiting'))).toBe(false)
  expect(readdirSync(project)).toEqual([])
})

test('the plug-in passes the checks of the plug-in directory', async () => {
  const run = promisify(execFile)(claude, ['plugin', 'validate', plugin, '--profile', 'directory'], {
    env: { PATH: path, HOME: home },
  })
  await expect(run).resolves.toMatchObject({ stdout: expect.stringContaining('Validation passed') })
})
