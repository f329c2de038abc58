// Results of the agent's own tools are restored after a compaction: the engine recognizes them by names, inputs and results.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { fill } from '../testing/history.ts'
import type { Bench, BenchOptions } from '../testing/tool-bench.ts'
import { benches } from '../testing/with-bench.ts'

const setBench = benches()
const temporary = setFolder()
const server = new URL('../testing/mcp-server.ts', import.meta.url).pathname
const counter = { command: process.execPath, args: [server, 'stdio'] }

const small = (options: BenchOptions = {}) =>
  setBench({
    isOnDisk: true,
    startMode: 'allow',
    ...options,
    stage: {
      window: 80_000,
      ...options.stage,
      engine: {
        settings: { maxOutputTokens: 8_000, sessionMemory: false, reductions: { microCompact: false } },
      },
    },
  })

async function compacted(bench: Bench): Promise<string> {
  bench.session.add({ role: 'assistant', content: 'Done so far.' })
  fill(bench.session, { rounds: 2, tokens: 4_000 })
  expect(await bench.session.compact()).toMatchObject({ type: 'compacted' })
  return bench.session
    .messages()
    .map(({ content }) => textOf(content))
    .join('\n')
}

describe('after a compaction', () => {
  test('files that Read, Edit and Write touched come back as they are now, and can be edited on', async () => {
    const bench = await small()
    bench.write('src/read.ts', 'export const read = 1\n')
    bench.write('src/edited.ts', 'export const edited = 1\n')
    bench.session.add({ role: 'user', content: 'Change them.' })
    await bench.say('Read', { file_path: 'src/read.ts' })
    await bench.say('Read', { file_path: 'src/edited.ts' })
    await bench.say('Edit', { file_path: 'src/edited.ts', old_string: '1', new_string: '2' })
    await bench.say('Write', { file_path: 'src/written.ts', content: 'export const written = 3\n' })
    const after = await compacted(bench)
    for (const text of ['export const read = 1', 'export const edited = 2', 'export const written = 3']) {
      expect(after).toContain(text)
    }
    expect(await bench.say('Edit', { file_path: 'src/edited.ts', old_string: '2', new_string: '4' })).toContain(
      'Changed',
    )
    // The result of the first call is gone, so its text is sent again.
    expect(await bench.say('Read', { file_path: 'src/read.ts' })).toBe('1\texport const read = 1')
  })

  test('a second read of an unchanged file does not hide the file', async () => {
    const bench = await small()
    bench.write('a.ts', 'export const distinctive = 1\n')
    bench.session.add({ role: 'user', content: 'Look.' })
    await bench.say('Read', { file_path: 'a.ts' })
    expect(await bench.say('Read', { file_path: 'a.ts' })).toContain('unchanged since')
    expect(await compacted(bench)).toContain('export const distinctive = 1')
  })

  test.each([
    { title: 'redacted by the tools', isEngineRedacting: true },
    { title: 'as it was shown, to a host that passes on no redaction', isEngineRedacting: false },
  ])('a file with a secret comes back $title', async ({ isEngineRedacting }) => {
    const secret = 'Zq81-internal-passphrase-0042'
    const environment = { PATH: process.env.PATH, DEPLOY_KEY: secret }
    const bench = await small({ environment, isEngineRedacting })
    const lines = ["export const host = 'db.example.com'", `export const key = '${secret}'`, 'export const retries = 3']
    bench.write('config.ts', `${lines.join('\n')}\n`)
    bench.session.add({ role: 'user', content: 'Look.' })
    expect(await bench.say('Read', { file_path: 'config.ts' })).toContain("key = '[redacted: DEPLOY_KEY]'")
    for (const round of [1, 2, 3]) {
      const after = await compacted(bench)
      expect({ round, hasFile: after.includes('export const retries = 3'), hasSecret: after.includes(secret) }).toEqual(
        {
          round,
          hasFile: true,
          hasSecret: false,
        },
      )
      expect(after).toContain("export const key = '[redacted: DEPLOY_KEY]'")
    }
  })

  test('a file whose reading was denied does not come back', async () => {
    const bench = await small({ startMode: 'ask', answer: () => ({ type: 'deny' }) })
    const secret = join(bench.outside, 'secret.txt')
    writeFileSync(secret, 'the secret of the house\n')
    bench.session.add({ role: 'user', content: 'Look.' })
    expect(await bench.say('Read', { file_path: secret })).toContain('Permission was denied')
    expect(await compacted(bench)).not.toContain('the secret of the house')
  })

  test('the to-do list, the plan, the skill and the tools of servers come back', async () => {
    const skills = temporary()
    mkdirSync(join(skills, 'release'))
    writeFileSync(join(skills, 'release', 'SKILL.md'), '---\ndescription: Publishes.\n---\nPublish on Tuesdays only.\n')
    const bench = await small({ skillFolders: [skills], mcpServers: { counter } })
    bench.session.add({ role: 'user', content: 'Release it.' })
    await bench.say('EnterPlanMode', {})
    await bench.say('ExitPlanMode', { plan: '1. Tag it\n2. Push it' })
    await bench.say('Skill', { skill: 'release' })
    const todos = [
      { content: 'Tag it', status: 'completed' },
      { content: 'Push it', status: 'in_progress' },
    ]
    await bench.say('TodoWrite', { todos })
    await bench.say('ToolSearch', { query: 'add numbers' })
    await bench.say('McpCall', { tool: 'mcp__counter__add_numbers', arguments: { a: 1, b: 2 } })
    const after = await compacted(bench)
    expect(after).toContain('1. Tag it\n2. Push it')
    expect(after).toContain('Publish on Tuesdays only.')
    expect(after).toContain('[~] Push it (in progress)')
    expect(after).toContain('Instructions of the MCP server counter\nCounts start at one.')
    expect(after).toContain('mcp__counter__add_numbers')
  })

  test('plan mode that is on and a background agent that runs come back', async () => {
    const bench = await small({ stage: { script: () => new Promise(() => undefined) } })
    bench.session.add({ role: 'user', content: 'Plan it.' })
    const { details } = await bench.call('Task', {
      description: 'map the code',
      prompt: 'Go.',
      run_in_background: true,
    })
    const { agentId } = details as { readonly agentId: string }
    await bench.say('EnterPlanMode', {})
    const after = await compacted(bench)
    expect(after).toContain('plan mode is on')
    expect(after).toContain(`${agentId} (agent), running: map the code`)
  })
})
