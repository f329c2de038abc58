// Real agents through the gateway, against the simulator: Claude Code, Codex, opencode and pi. `npm run test:agents` installs them.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Script, text, toolUse } from '@everlong/simulator'
import type { JsonObject } from 'everlong/internal'
import { afterEach, describe, expect, test } from 'vitest'
import { agentCommand, root } from '../../plugins/testing/agent.ts'
import { type Headless, headless, lastSaid, rule, run, said, wish } from '../../plugins/testing/headless.ts'
import { checkConfig } from './config/load.ts'
import type { Level } from './config/schema.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { sessionsIn, spoken } from './testing/setup.ts'

const forgetful = 'The reports were read.'
const filler = 'The report says that the total is in cents. '

/** Forgets everything when a client asks it to summarize, and writes a summary with sections when the gateway does. */
const script: Script = (request) => {
  const last = lastSaid(request)
  if (last.isResult) return text('I looked.')
  if (/^CRITICAL: Respond with TEXT ONLY/.test(last.text))
    return text(`<analysis>x</analysis><summary>${forgetful}</summary>`)
  if (last.text.includes('CONTEXT CHECKPOINT COMPACTION') || request.system.includes('summarization agent'))
    return text(forgetful)
  if (last.text.includes('Somebody who has never seen this conversation'))
    return text(`<summary>\n1. Primary request: ${written}\n</summary>`)
  if (last.text.includes('Run the tests') && request.tools.some(({ name }) => name === 'Bash')) {
    return toolUse('Bash', { command: 'npm test', description: 'Runs the tests' })
  }
  return text('Done.')
}
const written = 'The user asked for reports in cents, and the model wrote this for the gateway.'

type Host = Headless & {
  readonly gateway: Gateway
  readonly sessions: () => Promise<ReadonlyMap<string, readonly JsonObject[]>>
}

let close: (() => Promise<void>) | undefined
afterEach(async () => close?.(), 60_000)

async function started(name: string, level: Level): Promise<Host> {
  const host = await headless(name, script)
  const data = join(host.folder, 'gateway')
  const upstreams = { upstream: { url: host.url } }
  const defaultUpstreams = { messages: 'upstream', openai: 'upstream' }
  const config = checkConfig({ listen: { port: 0 }, data, upstreams, defaultUpstreams, level }, 'the test')
  const gateway = await startGateway(config, { write: () => undefined })
  close = async () => {
    await gateway.close()
    await host.close()
  }
  return {
    ...host,
    gateway,
    sessions: async () => {
      await gateway.settled()
      return sessionsIn(join(data, 'sessions', 'default'))
    },
  }
}

const mainOf = (sessions: ReadonlyMap<string, readonly JsonObject[]>) =>
  [...sessions].filter(([id]) => !id.includes('/'))

describe.skipIf(agentCommand('claude') === undefined)('Claude Code', () => {
  const claude = agentCommand('claude') ?? ''
  const talking = (host: Host, more: Readonly<Record<string, string>> = {}) => {
    const env = {
      ...{ ...host.env, ANTHROPIC_BASE_URL: host.gateway.url, ANTHROPIC_API_KEY: 'none', IS_SANDBOX: '1' },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ENABLE_TOOL_SEARCH: 'false', ...more },
    }
    return (prompt: string, ...options: readonly string[]) =>
      run(claude, ['-p', prompt, '--dangerously-skip-permissions', ...options], { cwd: host.project, env })
  }

  test('level 1: one transcript with everything that was said, through its own compaction', async () => {
    const host = await started('gateway-cc-1', 'observe')
    const say = talking(host)
    await say(`Read the reports. ${rule}`)
    await say('Run the tests.', '--continue')
    await say('/compact', '--continue')
    await say('Go on.', '--continue')
    const [[, records = []] = ['', []], ...others] = mainOf(await host.sessions())
    expect(others).toEqual([])
    const lines = spoken(records)
    expect(lines.filter((line) => line.includes(rule)).length).toBe(1)
    expect(lines.some((line) => line.includes('expected 3, got 2'))).toBe(true)
    expect(lines.filter((line) => line === 'compact_boundary')).toHaveLength(1)
    expect(lines.some((line) => line.includes('TEXT ONLY'))).toBe(false)
    expect(lines.at(-1)).toBe('assistant: Done.')
    expect(new Set(records.map(({ uuid }) => uuid)).size).toBe(records.length)
  })

  test('level 2: its own compaction, asked for by hand, is answered with the handover', async () => {
    const host = await started('gateway-cc-2', 'answer')
    const say = talking(host)
    await say(`Read the reports. ${rule} ${filler.repeat(300)}`)
    await say(wish, '--continue')
    await say('Run the tests.', '--continue')
    host.sinceLast()
    await say('/compact', '--continue')
    await say('Go on.', '--continue')
    const next = host.sinceLast().find((request) => said(request).includes('Go on.'))
    expect(said(next)).toContain(written)
    expect(said(next)).toContain(rule)
    expect(said(next)).not.toContain(forgetful)
    const [[, records = []] = ['', []]] = mainOf(await host.sessions())
    expect(records.find(({ subtype }) => subtype === 'compact_boundary')).toMatchObject({
      everlong: { gateway: { compactedBy: 'everlong' } },
    })
  })

  test('level 2: so is the one that it starts by itself when its context is full', async () => {
    const host = await started('gateway-cc-3', 'answer')
    const say = talking(host, { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000', CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '30' })
    await say(`Read the reports. ${rule}`)
    await say(`${wish} ${filler.repeat(1_600)}`, '--continue')
    host.sinceLast()
    await say('Go on.', '--continue')
    const after = host.sinceLast().findLast((request) => said(request).includes('Go on.'))
    expect(said(after)).toContain(written)
    expect(said(after)).toContain(rule)
    expect(said(after)).not.toContain(forgetful)
  })
})

describe.skipIf(agentCommand('codex') === undefined)('Codex', () => {
  test('level 2: its compaction is answered with the handover, and its thread is one transcript', async () => {
    const host = await started('gateway-codex', 'answer')
    mkdirSync(join(host.home, '.codex'))
    const provider = `[model_providers.local]\nname = "Local"\nbase_url = "${host.gateway.url}/v1"\nenv_key = "LOCAL_KEY"\nwire_api = "responses"\n`
    writeFileSync(join(host.home, '.codex', 'config.toml'), `model = "gpt-x"\nmodel_provider = "local"\n\n${provider}`)
    const say = (prompt: string, ...options: readonly string[]) =>
      run(
        agentCommand('codex') ?? '',
        ['exec', ...options, '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
        {
          cwd: host.project,
          env: { ...host.env, LOCAL_KEY: 'none' },
        },
      )
    await say(`Read the reports. ${rule} ${filler.repeat(300)}`)
    await say(wish, 'resume', '--last')
    host.sinceLast()
    await say('Go on.', 'resume', '--last', '-c', 'model_auto_compact_token_limit=3000')
    const next = host.sinceLast().findLast((request) => said(request).includes('Go on.'))
    expect(said(next)).toContain(written)
    expect(said(next)).not.toContain(forgetful)
    const all = mainOf(await host.sessions())
    expect(all).toHaveLength(1)
    const lines = spoken(all[0]?.[1])
    expect(lines.some((line) => line.includes(rule))).toBe(true)
    expect(lines.some((line) => line.includes('CONTEXT CHECKPOINT'))).toBe(false)
  })
})

describe.skipIf(agentCommand('opencode') === undefined)('opencode', () => {
  const model = 'claude-sonnet-4-5'
  const quiet = {
    ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    ...{ npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' },
  }

  test('level 1: two prompts of one session are one transcript', async () => {
    const host = await started('gateway-opencode', 'observe')
    const folder = join(host.home, '.config', 'opencode')
    mkdirSync(folder, { recursive: true })
    const options = { baseURL: `${host.gateway.url}/v1`, apiKey: 'none' }
    const named = { model: `anthropic/${model}`, small_model: `anthropic/${model}`, share: 'disabled' }
    writeFileSync(join(folder, 'opencode.json'), JSON.stringify({ ...named, provider: { anthropic: { options } } }))
    const say = (prompt: string, ...more: readonly string[]) =>
      run(agentCommand('opencode') ?? '', ['run', '--auto', ...more, prompt], {
        cwd: host.project,
        env: { ...host.env, ...quiet },
      })
    await say(`Read the reports. ${rule}`)
    await say(wish, '--continue')
    const all = mainOf(await host.sessions())
    const lines = all.map(([, records]) => spoken(records)).find((one) => one.some((line) => line.includes(wish)))
    expect(lines?.filter((line) => line.includes(rule)).length).toBe(1)
    expect(lines?.at(-1)).toBe('assistant: Done.')
  })
})

const pi = join(root, '.everlong/agents/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js')

describe.skipIf(!existsSync(pi))('pi', () => {
  test('level 1: found by what was said, two prompts of one session are one transcript', async () => {
    const host = await started('gateway-pi', 'observe')
    const folder = join(host.home, '.pi/agent')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, 'models.json'),
      JSON.stringify({ providers: { anthropic: { baseUrl: host.gateway.url, apiKey: 'none' } } }),
    )
    const words = ['--model', 'anthropic/claude-sonnet-4-5', '--thinking', 'off', '-p']
    const say = (prompt: string, ...more: readonly string[]) =>
      run(process.execPath, [pi, ...words, ...more, prompt], {
        cwd: host.project,
        env: { ...host.env, PI_OFFLINE: '1' },
      })
    await say(`Read the reports. ${rule}`)
    await say(wish, '--continue')
    const all = mainOf(await host.sessions()).map(([, records]) => spoken(records))
    expect(all).toHaveLength(1)
    expect(all[0]?.filter((line) => line.includes(rule)).length).toBe(1)
    expect(all[0]?.at(-1)).toBe('assistant: Done.')
  })
})
