// The real Claude Agent SDK, without a person or a network: the simulator is the model, and the home folder is empty.
// `npm run test:agents` installs the SDK and runs this.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asksForSummary, type Script, startServer, text } from '@everlong/simulator'
import { offline } from 'everlong'
import { everlong } from 'everlong/claude-agent-sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  agentsFolder as agents,
  ask,
  converse,
  facts,
  installedSdk,
  loadQuery,
  model,
  optionsFor,
  promptAt,
  type Query,
  rules,
  window,
} from './claude-agent-sdk.ts'
import { wrongFigures } from './figures.ts'

const root = join(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'everlong-agent-sdk-'))
const turns = 16

const sdk = installedSdk()
const isInstalled = sdk !== undefined
if (!isInstalled) console.warn('skipped: the Claude Agent SDK is not installed')

let query: Query
beforeAll(async () => {
  if (sdk !== undefined) query = await loadQuery(sdk)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A process for each turn, in a folder of its own. */
const inFolder = (name: string) => ({ query, turns, folder: join(folder, name), processes: 'one-per-turn' as const })

test.runIf(isInstalled)(
  'a conversation that ends at the window goes on with Everlong, and its rules are still there',
  // Forty processes of the SDK, one after the other.
  { timeout: 900_000 },
  async () => {
    const bare = await converse({ ...inFolder('bare'), env: { DISABLE_COMPACT: '1' } })
    const own = await converse({ ...inFolder('own'), env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(window) } })
    const managed = await converse({ ...inFolder('managed'), env: { DISABLE_AUTO_COMPACT: '1' }, isManaged: true })
    expect(bare.turns).toBeLessThan(turns)
    expect(managed).toMatchObject({ turns, refused: [], rules: rules.length, facts: facts.length })
    expect(managed.summaries).toBeGreaterThan(0)
    const page = 'claude-agent-sdk.md'
    expect(wrongFigures(page, 'without compaction', bare)).toEqual([])
    expect(wrongFigures(page, 'the SDK’s own compaction', own)).toEqual([])
    expect(wrongFigures(page, 'Everlong', managed)).toEqual([])
  },
)

test.runIf(isInstalled)(
  'a compaction of the SDK’s own gets instructions, and what it leaves out comes back',
  async () => {
    const asked: string[] = []
    const script: Script = (request) => {
      asked.push(JSON.stringify(request.messages))
      return asksForSummary(request) ? text('<analysis>x</analysis><summary>They talked.</summary>') : text('Yes.')
    }
    const server = await startServer({ script, windows: { [model]: window } })
    const { hooks, sessionStore } = everlong({ model: offline() })
    const options = { ...optionsFor(join(folder, 'hooks'), { ANTHROPIC_BASE_URL: server.url }), hooks, sessionStore }
    const { sessionId: resume } = await ask(query, `Hello. ${rules[0]}`, options)
    await ask(query, `Remember that ${facts[0]}. ${promptAt(4)}`, { ...options, resume })
    await ask(query, '/compact', { ...options, resume })
    const compaction = asked.at(-1)
    await ask(query, 'Go on.', { ...options, resume })
    await server.close()
    expect(compaction).toContain('Quote what the user wants done or not done from now on')
    const next = asked.at(-1)
    expect([next?.includes('They talked.'), next?.includes(rules[0] ?? ''), next?.includes(facts[0] ?? '')]).toEqual([
      true,
      true,
      true,
    ])
  },
)

test.runIf(isInstalled)('the types that are described here fit those of the SDK', () => {
  const file = join(agents, 'everlong-types.mts')
  writeFileSync(
    file,
    `import { createSdkMcpServer, foldSessionSummary, type Options, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { z } from 'zod'
import { everlong } from '../../engine/src/claude-agent-sdk.ts'
import { offline } from '../../engine/src/index.ts'

const { sessionStore, hooks, recallTool } = everlong({ model: offline(), foldSessionSummary })
const { name, description, handler } = recallTool(() => undefined)
const input = { query: z.string().optional(), read: z.string().optional() }
const archive = createSdkMcpServer({ name: 'archive', tools: [tool(name, description, input, handler)] })
const options: Options = { sessionStore, hooks, mcpServers: { archive } }
export const started = query({ prompt: 'Hello', options })
`,
  )
  const tsconfig = join(agents, 'tsconfig.json')
  const compilerOptions = { exactOptionalPropertyTypes: false, skipLibCheck: true, noEmit: true }
  writeFileSync(
    tsconfig,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files: [file], include: [] }),
  )
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', tsconfig],
    {
      encoding: 'utf8',
    },
  )
  expect(stdout + stderr).toBe('')
})
