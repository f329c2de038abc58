// The plug-in in the real opencode: `npm run test:agents` installs opencode and runs this.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

const opencode = agentCommand('opencode') ?? ''

const script: Script = (request) => {
  const last = lastSaid(request)
  if (last.isResult) return text('I looked.')
  if (request.system.includes('summarization agent')) return text('The reports were read.')
  if (last.text.includes('Run the tests'))
    return toolUse('bash', { command: 'npm test', description: 'Runs the tests' })
  if (last.text.includes('Print a lot')) return toolUse('bash', { command: 'seq 1 2000', description: 'Prints' })
  if (last.text.includes('Look it up')) return toolUse('recall', { query: 'column total' })
  return text('Done.')
}

const model = 'claude-sonnet-4-5'

/** The settings of a person who uses opencode with their own server. */
const userConfig = (url: string) => `{
  "$schema": "https://opencode.ai/config.json",
  // My settings
  "model": "anthropic/${model}",
  "small_model": "anthropic/${model}",
  "share": "disabled",
  "provider": { "anthropic": { "options": { "baseURL": "${url}/v1", "apiKey": "none" } } },
}
`

let host: Headless
let config: string
let plugin: string

beforeAll(async () => {
  host = await headless('opencode', script)
  const folder = join(host.home, '.config', 'opencode')
  config = join(folder, 'opencode.jsonc')
  plugin = join(folder, 'plugins', 'everlong.js')
  mkdirSync(folder, { recursive: true })
  writeFileSync(config, userConfig(host.url))
})
afterAll(() => host.close(), 60_000)

/** opencode fetches updates, models and packages for plug-ins; none of them is needed. */
const quiet = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  npm_config_registry: 'http://127.0.0.1:9',
  npm_config_fetch_retries: '0',
}

/** `window`: a smaller one for this run. */
function say(prompt: string, { isNew = false, window = 200_000 } = {}): Promise<string> {
  const limit = { context: window, output: 1_000 }
  const own = JSON.stringify({ provider: { anthropic: { models: { [model]: { limit } } } } })
  const words = ['run', '--auto', ...(isNew ? [] : ['--continue']), prompt]
  return run(opencode, words, { cwd: host.project, env: { ...host.env, ...quiet, OPENCODE_CONFIG_CONTENT: own } })
}

describe.skipIf(opencode === '')('opencode', () => {
  test('installing and uninstalling leave the home folder as it was', async () => {
    const before = everythingIn(host.home)
    await host.everlong('install', 'opencode')
    expect(existsSync(plugin)).toBe(true)
    await host.everlong('uninstall', 'opencode')
    expect(everythingIn(host.home)).toEqual(before)
  })

  test('what a compaction loses is in the next request, and older things can be looked up', async () => {
    await host.everlong('install', 'opencode')
    await say(`Read the reports. ${rule}`, { isNew: true })
    await say(`${wish} Run the tests. Keep this in mind: ${'alpha beta gamma '.repeat(2_000)}`)
    host.sinceLast()

    await say('Go on.', { window: 12_000 })
    const [compaction, next] = host.sinceLast()
    expect(said(compaction)).toContain('Write down word for word what the user asked')
    expect(said(next)).toContain('The reports were read.\n\n---\nThe summary above leaves out what follows')
    expect(said(next)).toContain(`- "Read the reports. ${rule}"\n`)
    expect(said(next)).toContain(wish)
    expect(said(next)).toMatch(/`npm test` failed \(exit 1\).*expected 3, got 2/)

    await say('Look it up.')
    const asked = host.sinceLast()
    expect(resultsIn(asked)).toContain(wish)
    // What was sent stays as it was.
    expect(said(asked[0])).toContain(said(next).slice(0, said(next).indexOf('## Current state')))
  })

  test('lost reads the session from the database of opencode', async () => {
    const report = JSON.parse(String(await host.everlong('lost', '--json')))
    // The plug-in gave back what the compaction had lost.
    const session = { format: 'opencode', compactions: [{ number: 1, trigger: 'auto' }], facts: [] }
    expect(report).toMatchObject({ found: 1, unreadable: [], sessions: [session] })
    rmSync(join(host.home, '.cache/everlong'), { recursive: true })
  })

  test('large results are shortened only where the user asks for it', async () => {
    await say('Print a lot.')
    expect(resultsIn(host.sinceLast())).toContain('\\n1000\\n')
    writeFileSync(join(config, '..', 'everlong.json'), '{ "largeResults": 2000 }')
    await say('Print a lot.', { isNew: true })
    const results = resultsIn(host.sinceLast())
    expect(results).toContain('characters left out. The whole result: recall(')
    expect(results).not.toContain('\\n1000\\n')
  })

  test('uninstalling after all that removes what is ours and nothing else, and no process is left', async () => {
    const before = everythingIn(host.home)
    await host.everlong('uninstall', 'opencode')
    expect(readFileSync(config, 'utf8')).toBe(userConfig(host.url))
    // Installing made the folder, and the settings are the user's own file.
    expect(leftBehind(host.home, before)).toEqual({
      gone: ['.config/opencode/plugins'],
      ours: ['.config/opencode/everlong.json'],
    })
    expect(await run('ps', ['-eo', 'args'])).not.toContain(host.folder)
  })
})
