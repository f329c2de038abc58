// `everlong handoff` with the real agents: each opens the session that was written for it, and its next request contains the
// handover.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from '@everlong/simulator'
import { session } from 'everlong/internal/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentCommand, root } from './agent.ts'
import { type Headless, headless, rule, run, said, wish } from './headless.ts'

let host: Headless

beforeEach(async () => {
  host = await headless('handoff', () => text('I go on.'))
  const talk = session().user(`Look at the reports. ${rule}`).assistant('I looked at all of them. '.repeat(400))
  for (let at = 0; at < 12; at++) {
    talk
      .toolUse(`t${at}`, 'Bash', { command: `cat report-${at}.txt` })
      .toolResult(`t${at}`, 'A long line. '.repeat(900))
  }
  const { text: lines } = talk.user(wish).assistant('It is renamed in three of five reports.')
  writeFileSync(join(host.folder, 'session.jsonl'), lines)
})
afterEach(() => host.close(), 60_000)

type Written = { readonly out: string; readonly command: readonly string[] }

async function handOver(to: string, ...options: readonly string[]): Promise<Written> {
  const file = join(host.folder, 'session.jsonl')
  const words = ['handoff', file, '--to', to, '--folder', host.project, '--json', ...options]
  return JSON.parse(await run(process.execPath, [join(root, 'cli/src/main.ts'), ...words], at()))
}

const at = (env: Readonly<Record<string, string>> = {}) => ({ cwd: host.project, env: { ...host.env, ...env } })

function configure(path: string, content: string): void {
  mkdirSync(dirname(join(host.home, path)), { recursive: true })
  writeFileSync(join(host.home, path), content)
}

/** The request with the new prompt has the handover before it. */
function expectHandover(): void {
  const asked = host.sinceLast().map(said)
  const request = asked.find((one) => one.includes('What is left?')) ?? asked.join('\n---\n')
  for (const part of ['# Handover from a session of Claude Code', rule, wish, 'renamed in three of five reports']) {
    expect(request).toContain(part)
  }
  expect(request.indexOf(rule)).toBeLessThan(request.indexOf('What is left?'))
}

const claude = agentCommand('claude')
test.skipIf(!claude)('Claude Code resumes it', async () => {
  const [, ...words] = (await handOver('claude-code')).command
  const server = { ANTHROPIC_BASE_URL: host.url, ANTHROPIC_API_KEY: 'none' }
  const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1', ENABLE_TOOL_SEARCH: 'false' }
  await run(claude ?? '', ['-p', 'What is left?', ...words], at({ ...server, ...quiet }))
  expectHandover()
})

const pi = agentCommand('pi')
test.skipIf(!pi)('pi opens it', async () => {
  configure(
    '.pi/agent/models.json',
    JSON.stringify({ providers: { anthropic: { baseUrl: host.url, apiKey: 'none' } } }),
  )
  const [, ...words] = (await handOver('pi')).command
  const options = ['--model', 'anthropic/claude-sonnet-4-5', '--thinking', 'off', ...words, '--', 'What is left?']
  await run(pi ?? '', ['-p', ...options], at({ PI_OFFLINE: '1' }))
  expectHandover()
})

const codex = agentCommand('codex')
test.skipIf(!codex)('Codex resumes it', async () => {
  const provider = `name = "Local"\nbase_url = "${host.url}/v1"\nenv_key = "LOCAL_KEY"\nwire_api = "responses"\n`
  configure('.codex/config.toml', `model = "gpt-x"\nmodel_provider = "local"\n\n[model_providers.local]\n${provider}`)
  const [, ...words] = (await handOver('codex')).command
  const options = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'What is left?']
  await run(codex ?? '', ['exec', ...words, ...options], at({ LOCAL_KEY: 'none' }))
  expectHandover()
})

const opencode = agentCommand('opencode')
test.skipIf(!opencode)('opencode imports it', async () => {
  const model = 'anthropic/claude-sonnet-4-5'
  const provider = { anthropic: { options: { baseURL: `${host.url}/v1`, apiKey: 'none' } } }
  configure(
    '.config/opencode/opencode.json',
    JSON.stringify({ model, small_model: model, share: 'disabled', provider }),
  )
  const [, ...words] = (await handOver('opencode', '--out', join(host.folder, 'handover.json'))).command
  const quiet = {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_fetch_retries: '0',
  }
  await run(opencode ?? '', words, at(quiet))
  await run(opencode ?? '', ['run', '--auto', '--continue', 'What is left?'], at(quiet))
  expectHandover()
})
