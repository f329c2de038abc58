// `npm run bench -- adapters`: the same conversation through each SDK, managed by Everlong's adapter and by the SDK's own way.
// `--only NAME` runs one SDK and stores nothing.
import { aiSdkAdapters, aiSdkBuiltIns } from '../../../examples/src/adapters/ai-sdk.ts'
import { anthropicAdapters, anthropicBuiltIns } from '../../../examples/src/adapters/anthropic.ts'
import { type Adapter, type Run, runAdapter } from '../../../examples/src/adapters/contract.ts'
import { langChainAdapters, langChainBuiltIns } from '../../../examples/src/adapters/langchain.ts'
import { mastraAdapter, mastraBuiltIns } from '../../../examples/src/adapters/mastra.ts'
import { openaiAdapters } from '../../../examples/src/adapters/openai.ts'
import { openaiAgentsAdapters, openaiAgentsBuiltIns } from '../../../examples/src/adapters/openai-agents.ts'
import { responsesAdapter } from '../../../examples/src/adapters/openai-responses.ts'
import { defineBenchmark } from '../benchmark.ts'
import { fetchPeers } from '../peers/apart.ts'
import { versionsInWords, versionsOf } from '../peers/versions.ts'
import { agentSdkTargets, measureAgentSdk } from './agent-sdk.ts'
import { type AdaptersReport, page, type Row, targetsOf, turns, window } from './page.ts'

type Sdk = {
  readonly name: string
  readonly model: string
  readonly ours: readonly Adapter[]
  readonly builtIns: readonly Adapter[]
}

const claude = 'claude-sonnet-4-6'
const gpt = 'gpt-5.4'

const sdks: readonly Sdk[] = [
  { name: 'Anthropic SDK', model: claude, ours: anthropicAdapters.slice(0, 1), builtIns: anthropicBuiltIns },
  { name: 'AI SDK', model: claude, ours: aiSdkAdapters.slice(1), builtIns: aiSdkBuiltIns },
  { name: 'LangChain', model: claude, ours: langChainAdapters.slice(0, 1), builtIns: langChainBuiltIns },
  { name: 'Mastra', model: claude, ours: [mastraAdapter], builtIns: mastraBuiltIns },
  { name: 'OpenAI SDK', model: gpt, ours: [...openaiAdapters.slice(0, 1), responsesAdapter], builtIns: [] },
  { name: 'OpenAI Agents', model: gpt, ours: openaiAgentsAdapters.slice(0, 2), builtIns: openaiAgentsBuiltIns },
]

export const benchmark = defineBenchmark({
  name: 'adapters',
  run,
  page,
  targets: ({ rows, agentSdk }) => [...targetsOf(rows), ...agentSdkTargets(agentSdk, turns)],
})

async function run(args: readonly string[]): Promise<AdaptersReport> {
  fetchPeers()
  const only = args[args.indexOf('--only') + 1]
  const chosen = args.includes('--only') ? sdks.filter(({ name }) => name === only) : sdks
  const rows: Row[] = []
  for (const { name: sdk, model, ours, builtIns } of chosen) {
    const [first] = ours
    const all = [
      ...(first ? [{ adapter: first, by: 'nothing' as const }] : []),
      ...builtIns.map((adapter) => ({ adapter, by: 'built-in' as const })),
      ...ours.map((adapter) => ({ adapter, by: 'Everlong' as const })),
    ]
    for (const { adapter, by } of all) {
      const ran = await runAdapter(adapter, { isManaged: by !== 'nothing', turns, window, model, faults: false })
      rows.push(rowOf({ sdk, by, name: adapter.name }, ran))
      console.error(`${sdk}: ${by}, ${adapter.name}: ${ran.turns} turns, $${ran.cost.toFixed(2)} ${ran.error ?? ''}`)
    }
  }
  const versions = versionsOf(['@anthropic-ai/sdk', 'ai', 'langchain', 'openai', '@openai/agents', '@mastra/core'])
  const isChosen = !args.includes('--only') || only === 'Claude Agent SDK'
  const agentSdk = isChosen ? await measureAgentSdk(turns) : { version: '', rows: [] }
  return { versions: versionsInWords(versions), rows, agentSdk }
}

function rowOf(who: Pick<Row, 'sdk' | 'by' | 'name'>, ran: Run): Row {
  const { turns, refused, promptTokens, largestPrompt, cost, summaries, rules, facts } = ran
  return { ...who, turns, refused: refused.length, promptTokens, largestPrompt, cost, summaries, rules, facts }
}
