// Real agents on level 3: with their own compaction off and a small window a long conversation breaks them, but not through the
// gateway. `npm run test:agents` installs them.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Script, summarizer, text } from '@everlong/simulator'
import { afterEach, expect, test } from 'vitest'
import { agentCommand, root } from '../../plugins/testing/agent.ts'
import { type Headless, headless, lastSaid, rule, run, said } from '../../plugins/testing/headless.ts'
import { checkConfig } from './config/load.ts'
import { type Gateway, startGateway } from './gateway.ts'

/** The system prompt and tools of Claude Code alone take about 26,000. */
const window = 60_000
const windows = { 'claude-sonnet-4-5': window, 'gpt-x': window }
const filler = 'The report says that the total is in cents. '
/** About 12,000 tokens each, together more than the window. */
const prompts = Array.from({ length: 9 }, (_, at) => `${at === 0 ? rule : ''} Report ${at}. ${filler.repeat(1_200)}`)

const script: Script = (request, context) =>
  lastSaid(request).text.includes('Somebody who has never seen') ? summarizer()(request, context) : text('Noted.')

type Agent = {
  readonly name: string
  readonly isThere: boolean
  /** Writes its settings. Returns a function that sends a message; `isFirst` starts a new session. */
  readonly set: (host: Headless, url: string) => (prompt: string, isFirst: boolean) => Promise<string>
}

const pi = join(root, '.everlong/agents/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js')
const model = 'claude-sonnet-4-5'

const agents: readonly Agent[] = [
  {
    ...{ name: 'Claude Code', isThere: agentCommand('claude') !== undefined },
    set: (host, url) => (prompt, isFirst) => {
      const env = {
        ...{ ...host.env, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', IS_SANDBOX: '1', DISABLE_COMPACT: '1' },
        ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ENABLE_TOOL_SEARCH: 'false' },
        ...{ CLAUDE_CODE_ATTRIBUTION_HEADER: '0', CLAUDE_CODE_MAX_OUTPUT_TOKENS: '4000' },
      }
      const words = [
        '-p',
        prompt,
        '--model',
        model,
        '--dangerously-skip-permissions',
        ...(isFirst ? [] : ['--continue']),
      ]
      return run(agentCommand('claude') ?? '', words, { cwd: host.project, env })
    },
  },
  {
    ...{ name: 'Codex', isThere: agentCommand('codex') !== undefined },
    set: (host, url) => {
      mkdirSync(join(host.home, '.codex'), { recursive: true })
      const provider = `[model_providers.local]\nname = "Local"\nbase_url = "${url}/v1"\nenv_key = "LOCAL_KEY"\nwire_api = "responses"\nstream_max_retries = 0\nrequest_max_retries = 0\n`
      const limits = 'model_context_window = 1000000\nmodel_auto_compact_token_limit = 900000\n'
      const head = `model = "gpt-x"\nmodel_provider = "local"\n${limits}\n`
      writeFileSync(join(host.home, '.codex', 'config.toml'), `${head}${provider}`)
      const how = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
      return (prompt, isFirst) =>
        run(agentCommand('codex') ?? '', ['exec', ...(isFirst ? [] : ['resume', '--last']), ...how, prompt], {
          ...{ cwd: host.project, env: { ...host.env, LOCAL_KEY: 'none' } },
        })
    },
  },
  {
    ...{ name: 'pi', isThere: existsSync(pi) },
    set: (host, url) => {
      const folder = join(host.home, '.pi/agent')
      mkdirSync(folder, { recursive: true })
      const providers = { anthropic: { baseUrl: url, apiKey: 'none' } }
      writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers }))
      writeFileSync(
        join(folder, 'settings.json'),
        JSON.stringify({ compaction: { enabled: false }, retry: { enabled: false } }),
      )
      const words = ['--model', `anthropic/${model}`, '--thinking', 'off', '-p']
      return (prompt, isFirst) =>
        run(process.execPath, [pi, ...words, ...(isFirst ? [] : ['--continue']), prompt], {
          ...{ cwd: host.project, env: { ...host.env, PI_OFFLINE: '1' } },
        })
    },
  },
  {
    ...{ name: 'opencode', isThere: agentCommand('opencode') !== undefined },
    set: (host, url) => {
      const folder = join(host.home, '.config', 'opencode')
      mkdirSync(folder, { recursive: true })
      // It assumes a larger window, so it never compacts by itself.
      const models = { [model]: { limit: { context: 1_000_000, output: 4_000 } } }
      const provider = { anthropic: { options: { baseURL: `${url}/v1`, apiKey: 'none' }, models } }
      const named = { model: `anthropic/${model}`, small_model: `anthropic/${model}` }
      const config = {
        ...named,
        share: 'disabled',
        autoupdate: false,
        compaction: { auto: false, prune: false },
        provider,
      }
      writeFileSync(join(folder, 'opencode.json'), JSON.stringify(config))
      const offline = {
        ...{ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
        ...{ npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' },
      }
      return (prompt, isFirst) =>
        run(agentCommand('opencode') ?? '', ['run', '--auto', ...(isFirst ? [] : ['--continue']), prompt], {
          ...{ cwd: host.project, env: { ...host.env, ...offline } },
        })
    },
  },
]

let close: (() => Promise<void>) | undefined
afterEach(async () => close?.(), 60_000)

async function started(name: string): Promise<Headless & { readonly gateway: Gateway }> {
  const host = await headless(`level-3-${name.replace(' ', '-')}`, script, { windows })
  const upstreams = { upstream: { url: host.url } }
  const defaultUpstreams = { messages: 'upstream', openai: 'upstream' }
  const data = join(host.folder, 'gateway')
  const config = { listen: { port: 0 }, data, upstreams, defaultUpstreams, level: 'manage' }
  const gateway = await startGateway(checkConfig(config, 'the test'), { write: () => undefined })
  close = async () => {
    await gateway.close()
    await host.close()
  }
  return { ...host, gateway }
}

/** Its output, or its failure. */
const outcomeOf = (saying: Promise<string>) =>
  saying.catch(
    (error: { readonly stdout?: string; readonly stderr?: string }) => `failed: ${error.stdout} ${error.stderr}`,
  )

for (const { name, isThere, set } of agents) {
  test.skipIf(!isThere)(`${name} alone dies of the conversation`, async () => {
    const host = await started(name)
    const say = set(host, host.url)
    const outcomes: string[] = []
    for (const [at, prompt] of prompts.entries()) outcomes.push(await outcomeOf(say(prompt, at === 0)))
    expect(outcomes[0]).toContain('Noted.')
    expect(outcomes.at(-1)).not.toContain('Noted.')
  })

  test.skipIf(!isThere)(`${name} through level 3 does not, and its rule is still there`, async () => {
    const host = await started(name)
    const say = set(host, host.gateway.url)
    for (const [at, prompt] of prompts.entries()) {
      expect(await outcomeOf(say(prompt, at === 0)), `prompt ${at}`).toContain('Noted.')
    }
    const last = host.sinceLast().findLast((request) => said(request).includes('Report 8.'))
    expect(said(last)).toContain(rule)
  })
}
