// The Claude Agent SDK over as many turns as the other SDKs: with nothing, with its own compaction, and with Everlong.
import { readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type Conversed,
  converse,
  facts,
  installedSdk,
  loadQuery,
  rules,
  window,
} from '../../../examples/src/adapters/claude-agent-sdk.ts'
import { type Table, type Target, table } from '../benchmark.ts'
import { fetchAgentSdkPackage } from '../peers/apart.ts'

type By = 'nothing' | 'its own compaction' | 'Everlong'
export type AgentSdkRow = Omit<Conversed, 'refused' | 'error' | 'requests'> & {
  readonly by: By
  readonly refused: number
}

export type AgentSdkReport = { readonly version: string; readonly rows: readonly AgentSdkRow[] }

const ways: readonly { readonly by: By; readonly env: Readonly<Record<string, string>> }[] = [
  { by: 'nothing', env: { DISABLE_COMPACT: '1' } },
  { by: 'its own compaction', env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(window) } },
  { by: 'Everlong', env: { DISABLE_AUTO_COMPACT: '1' } },
]

/** Returns the file of the SDK. */
export function fetchAgentSdk(): string {
  if (installedSdk() === undefined) fetchAgentSdkPackage()
  const file = installedSdk()
  if (file === undefined) throw new Error('The Claude Agent SDK was installed, and its file sdk.mjs is not there.')
  return file
}

export async function measureAgentSdk(turns: number): Promise<AgentSdkReport> {
  const file = fetchAgentSdk()
  const query = await loadQuery(file)
  const rows: AgentSdkRow[] = []
  for (const { by, env } of ways) {
    const folder = await mkdtemp(join(tmpdir(), 'everlong-agent-sdk-'))
    const ran = await converse({ query, folder, turns, env, isManaged: by === 'Everlong', processes: 'few' })
    rmSync(folder, { recursive: true, force: true })
    const { error = '', requests: _, refused, ...figures } = ran
    rows.push({ by, ...figures, refused: refused.length })
    console.error(`Claude Agent SDK: ${by}: ${ran.turns} turns, $${ran.cost.toFixed(2)} ${error.slice(0, 100)}`)
  }
  const { version } = JSON.parse(readFileSync(join(dirname(file), 'package.json'), 'utf8')) as { version: string }
  return { version, rows }
}

const dollars = (value: number) => `$${value.toFixed(2)}`

export function agentSdkTargets({ rows }: AgentSdkReport, turns: number): readonly Target[] {
  const by = (name: By) => rows.find((row) => row.by === name)
  const [own, ours] = [by('its own compaction'), by('Everlong')]
  if (!own || !ours) return []
  const kept = (row: AgentSdkRow) => `${row.rules} rules, ${row.facts} facts`
  return [
    {
      what: `Claude Agent SDK: the price of ${turns} turns`,
      wanted: `at most that of its own compaction: ${dollars(own.cost)} (${kept(own)})`,
      measured: `${dollars(ours.cost)} (${kept(ours)})`,
      met: ours.turns === turns && ours.rules === rules.length && ours.cost <= own.cost,
    },
    {
      what: 'Claude Agent SDK: compactions that left too much, so that the next turn compacted again',
      wanted: '0',
      measured: String(ours.repeated),
      met: ours.repeated === 0,
    },
  ]
}

export function agentSdkTable({ rows }: AgentSdkReport, turns: number): Table {
  return table(
    ['by', 'turns', 'refused', 'prompt tokens', 'largest prompt', 'summaries', 'repeated', 'price', 'rules', 'facts'],
    rows.map((row) => [
      row.by === 'Everlong' ? '**Everlong**' : row.by,
      row.turns === turns ? turns : `${row.turns}, then it fails`,
      row.refused,
      row.promptTokens,
      row.largestPrompt,
      row.summaries,
      row.repeated,
      dollars(row.cost),
      row.turns === turns ? `${row.rules} of ${rules.length}` : '',
      row.turns === turns ? `${row.facts} of ${facts.length}` : '',
    ]),
  )
}

export const agentSdkText = `The SDK starts Claude Code, whose own prompt and tools need more room, so the window is ${window.toLocaleString('en')} tokens here. Each turn is a
message of about 9,000 tokens. One process takes all messages (streaming input); with Everlong it ends when a compaction is due, and the next one
resumes the compacted session. *Repeated* are compactions in the turn right after one.`
