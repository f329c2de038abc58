// The plug-in in the real Codex: `npm run test:agents` installs Codex and runs this.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Script, text, toolUse } from '@everlong/simulator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentCommand, everythingIn } from '../../testing/agent.ts'
import {
  type Headless,
  headless,
  lastSaid,
  leftBehind,
  resultsIn,
  rule,
  run,
  said,
  wish,
} from '../../testing/headless.ts'

const codex = agentCommand('codex') ?? ''

/** Waits while Codex waits for the summary, as long as a model may take to write one. */
const isPrepared = async () => {
  const folder = join(host.home, '.codex', 'everlong', 'prepared')
  for (let tries = 0; tries < 200; tries++) {
    if (existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.jsonl.json'))) return true
    await setTimeout(100)
  }
  return false
}
const preparedInTime: boolean[] = []

const script: Script = async (request) => {
  const last = lastSaid(request)
  if (last.isResult) return text('I looked.')
  if (last.text.startsWith('Write a summary of this conversation')) {
    preparedInTime.push(await isPrepared())
    return text('The reports were read.')
  }
  if (last.text.startsWith('Run the tests')) return toolUse('exec_command', { cmd: 'npm test' })
  if (last.text.startsWith('Look it up')) return toolUse('mcp__everlong__search', { query: 'column total' })
  return text('Done.')
}

/** The settings of a person who uses Codex with their own server. */
const userConfig = (url: string) => `# My settings
model = "gpt-x"
model_provider = "local"

[model_providers.local]
name = "Local"
base_url = "${url}/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"
`

let host: Headless
let config: string

beforeAll(async () => {
  host = await headless('codex', script)
  config = join(host.home, '.codex', 'config.toml')
  mkdirSync(join(host.home, '.codex'))
  writeFileSync(config, userConfig(host.url))
})
afterAll(() => host.close())

/** Hooks run only after a person has trusted them. Commands are not sandboxed, because sandboxes differ by machine. */
const unattended = ['--dangerously-bypass-hook-trust', '--dangerously-bypass-approvals-and-sandbox']

function say(prompt: string, ...options: readonly string[]): Promise<string> {
  const words = ['exec', ...options, '--skip-git-repo-check', ...unattended, prompt]
  return run(codex, words, { cwd: host.project, env: { ...host.env, LOCAL_KEY: 'none' } })
}

const resume = ['resume', '--last'] as const

describe.skipIf(codex === '')('Codex', () => {
  test('installing and uninstalling leave the home folder as it was', async () => {
    const before = everythingIn(host.home)
    await host.everlong('install', 'codex')
    expect(readFileSync(config, 'utf8')).toContain('[mcp_servers.everlong]')
    await host.everlong('uninstall', 'codex')
    expect(everythingIn(host.home)).toEqual(before)
  })

  test('what a compaction loses is in the next request, and older things can be looked up', async () => {
    await host.everlong('install', 'codex')
    await say(`Read the reports. ${rule}`)
    await say(wish, ...resume)
    await say('Run the tests.', ...resume)
    host.sinceLast()

    await say('Go on.', ...resume, '-c', 'model_auto_compact_token_limit=5000')
    const [compaction, next] = host.sinceLast()
    expect(preparedInTime).toEqual([true])
    expect(readdirSync(join(host.home, '.codex', 'everlong', 'prepared'))).toEqual([])
    expect(said(compaction)).toContain('Mark nothing as approved or tested')
    expect(said(next)).toContain('The reports were read.')
    expect(said(next)).toContain('The summary leaves out what follows')
    expect(said(next)).toMatch(/`npm test` failed \(exit 1\).*expected 3, got 2/)
    expect(said(next)).toMatch(/Go on\.$/)

    await say('Look it up.', ...resume)
    expect(resultsIn(host.sinceLast())).toContain(wish)
  })

  test('where the server writes the summary, the agent is informed that nobody else can read it', async () => {
    await say('Run the tests.', ...resume)
    host.sinceLast()
    // Codex leaves the compaction to a provider of this name.
    const remote = ['-c', 'model_auto_compact_token_limit=5000', '-c', 'model_providers.local.name="OpenAI"']
    await say('Go on.', ...resume, ...remote)
    const [next] = host.sinceLast()
    expect(said(next)).toContain('It may repeat what the summary says, which only you can read.')
    expect(said(next)).toMatch(/`npm test` failed \(exit 1\)/)
  })

  test('another project finds nothing of it', async () => {
    const other = join(host.folder, 'other')
    mkdirSync(other)
    await say('Look it up.', '-C', other)
    const found = resultsIn(host.sinceLast())
    expect(found).toContain('tool_result')
    expect(found).not.toContain(wish)
  })

  test('uninstalling after all that removes what is ours and nothing else, and no process is left', async () => {
    const before = everythingIn(host.home)
    await host.everlong('uninstall', 'codex')
    expect(readFileSync(config, 'utf8')).toBe(userConfig(host.url))
    expect(leftBehind(host.home, before)).toEqual({ gone: [], ours: [] })
    expect(await run('ps', ['-eo', 'args'])).not.toContain(join(host.home, '.codex', 'everlong'))
  })
})
