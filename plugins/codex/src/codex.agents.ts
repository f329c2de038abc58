// The plug-in in the real Codex, without a person and without a network: the model is the simulator, the home folder holds
// nothing but a configuration. `npm run test:agents` installs Codex and runs this.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningServer, type Script, type ScriptRequest, startServer, text, toolUse } from '@everlong/simulator'
import { blocksOf, isToolResult, textOf } from 'everlong/transcript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentCommand, everythingIn, root, searchPath } from '../../testing/agent.ts'

const codex = agentCommand('codex')
const folder = mkdtempSync(join(tmpdir(), 'everlong-codex-'))
const project = join(folder, 'project')
const home = join(folder, 'home')
const config = join(home, '.codex', 'config.toml')
const rule = 'From now on never touch the file schema.sql.'
const wish = 'Rename the column total to amount in every report.'

const requests: ScriptRequest[] = []
let server: RunningServer

/** Forgets everything when it summarizes, and runs and searches what it is asked to. */
const script: Script = (request) => {
  requests.push(request)
  const last = blocksOf(request.messages.at(-1)?.content).at(-1)
  const said = last === undefined ? '' : textOf([last])
  if (last !== undefined && isToolResult(last)) return text('I looked.')
  if (said.startsWith('Write a summary of this conversation')) return text('The reports were read.')
  if (said.startsWith('Run the tests')) return toolUse('exec_command', { cmd: 'npm test' })
  if (said.startsWith('Look it up')) return toolUse('mcp__everlong__search', { query: 'column total' })
  return text('Done.')
}

/** As somebody has it who uses Codex with a server of their own. */
const userConfig = (url: string) => `# My settings
model = "gpt-x"
model_provider = "local"

[model_providers.local]
name = "Local"
base_url = "${url}/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"
`

beforeAll(async () => {
  for (const path of [project, join(home, '.codex')]) mkdirSync(path, { recursive: true })
  writeFileSync(join(project, 'package.json'), '{ "scripts": { "test": "echo expected 3, got 2; exit 1" } }\n')
  server = await startServer({ script, port: 0 })
  writeFileSync(config, userConfig(server.url))
})

afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = promisify(execFile)
const env = { PATH: searchPath, HOME: home, LOCAL_KEY: 'none' }
const everlong = (...words: readonly string[]) =>
  run(process.execPath, [join(root, 'cli/src/main.ts'), ...words], { env, cwd: project })
const sinceLast = () => requests.splice(0)
const said = (request: ScriptRequest | undefined) => request?.messages.map(({ content }) => textOf(content)).join('\n')

async function say(prompt: string, ...options: readonly string[]): Promise<void> {
  // Hooks run only once a person has trusted them; commands are not contained, since containers differ by machine.
  const always = [
    '--skip-git-repo-check',
    '--dangerously-bypass-hook-trust',
    '--dangerously-bypass-approvals-and-sandbox',
  ]
  const child = run(codex ?? '', ['exec', ...options, ...always, prompt], { cwd: project, env, timeout: 120_000 })
  child.child.stdin?.end()
  await child
}

describe.skipIf(codex === undefined)('Codex', () => {
  test('installing and uninstalling leave the home folder as it was', async () => {
    const before = everythingIn(home)
    await everlong('install', 'codex')
    expect(readFileSync(config, 'utf8')).toContain('[mcp_servers.everlong]')
    await everlong('uninstall', 'codex')
    expect(everythingIn(home)).toEqual(before)
  })

  test('what a compaction loses is in the next request, and older things can be looked up', async () => {
    await everlong('install', 'codex')
    await say(`Read the reports. ${rule}`)
    await say(wish, 'resume', '--last')
    await say('Run the tests.', 'resume', '--last')
    sinceLast()

    await say('Go on.', 'resume', '--last', '-c', 'model_auto_compact_token_limit=5000')
    const [compaction, next] = sinceLast()
    expect(said(compaction)).toContain('Mark nothing as approved or tested')
    expect(said(next)).toContain('The reports were read.')
    expect(said(next)).toContain('The summary leaves out what follows')
    expect(said(next)).toMatch(/`npm test` failed \(exit 1\).*expected 3, got 2/)
    expect(said(next)).toMatch(/Go on\.$/)

    await say('Look it up.', 'resume', '--last')
    const found = sinceLast().flatMap(({ messages }) =>
      messages.flatMap(({ content }) => blocksOf(content).filter(isToolResult)),
    )
    expect(JSON.stringify(found)).toContain(wish)
  })

  test('another project finds nothing of it', async () => {
    const other = join(folder, 'other')
    mkdirSync(other)
    await say('Look it up.', '-C', other)
    const [, answered] = sinceLast()
    const found = JSON.stringify(answered?.messages.at(-1))
    expect(found).toContain('tool_result')
    expect(found).not.toContain(wish)
  })

  test('uninstalling after all that removes what is ours and nothing else, and no process is left', async () => {
    const before = everythingIn(home)
    await everlong('uninstall', 'codex')
    const after = everythingIn(home)
    expect(readFileSync(config, 'utf8')).toBe(userConfig(server.url))
    const gone = [...before.keys()].filter((name) => !after.has(name))
    expect(gone.filter((name) => !/(^|\/)\.?everlong\b/.test(name))).toEqual([])
    expect([...after.keys()].filter((name) => /everlong/.test(name))).toEqual([])
    const { stdout } = await run('ps', ['-eo', 'args'])
    expect(stdout).not.toContain(join(home, '.codex', 'everlong'))
  })
})
