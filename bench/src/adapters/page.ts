// The page of `npm run bench -- adapters`, and its target: no adapter costs more than its SDK's own way.
import { facts, rules } from '../../../examples/src/adapters/contract.ts'
import { type Page, type Table, type Target, table, targetTable } from '../benchmark.ts'
import { type AgentSdkReport, agentSdkTable, agentSdkTargets, agentSdkText } from './agent-sdk.ts'

export const turns = 200
export const window = 60_000

export type Row = {
  readonly sdk: string
  readonly by: 'nothing' | 'built-in' | 'Everlong'
  readonly name: string
  /** Number of answered turns. */
  readonly turns: number
  readonly refused: number
  readonly promptTokens: number
  readonly largestPrompt: number
  readonly cost: number
  readonly summaries: number
  readonly rules: number
  readonly facts: number
}

export type AdaptersReport = {
  readonly versions: string
  readonly rows: readonly Row[]
  readonly agentSdk: AgentSdkReport
}

const dollars = (value: number) => `$${value.toFixed(2)}`

/** Compares each adapter with the cheapest built-in that completed the conversation, if there is one. */
export function targetsOf(rows: readonly Row[]): readonly Target[] {
  return rows
    .filter(({ by }) => by === 'Everlong')
    .map((own) => {
      const peers = rows.filter(
        ({ sdk, by, turns: answered }) => sdk === own.sdk && by === 'built-in' && answered === turns,
      )
      const [best] = peers.toSorted((a, b) => a.cost - b.cost)
      const kept = (row: Row) => `${row.rules} rules, ${row.facts} facts`
      return {
        what: `${own.sdk}, ${own.name}: the price of ${turns} turns`,
        wanted: best
          ? `at most that of ${best.name}: ${dollars(best.cost)} (${kept(best)})`
          : `all ${turns} turns: nothing that the SDK has gets there`,
        measured: `${dollars(own.cost)} (${kept(own)})`,
        met: own.turns === turns && own.rules === rules.length && (!best || own.cost <= best.cost),
      }
    })
}

/** Rows of one SDK, or of all. */
export function rowsTable(rows: readonly Row[]): Table {
  return table(
    ['SDK', 'by', 'turns', 'refused', 'prompt tokens', 'largest prompt', 'summaries', 'price', 'rules', 'facts'],
    rows.map((row) => [
      row.sdk,
      row.by === 'Everlong' ? `**Everlong, ${row.name}**` : row.by === 'nothing' ? 'nothing' : `\`${row.name}\``,
      row.turns === turns ? turns : `${row.turns}, then it fails`,
      row.refused,
      row.promptTokens,
      row.largestPrompt,
      row.summaries,
      dollars(row.cost),
      row.turns === turns ? `${row.rules} of ${rules.length}` : '',
      row.turns === turns ? `${row.facts} of ${facts.length}` : '',
    ]),
  )
}

export function page({ versions, rows, agentSdk }: AdaptersReport): Page {
  return {
    title: 'Adapters next to what each SDK has',
    parts: [
      `Written by \`npm run bench -- adapters\` with ${versions}.`,
      `A conversation of ${turns} turns with parallel calls, images and thinking through each SDK, over HTTP against the simulator, in a window of
${window.toLocaleString('en')} tokens. Everlong has its defaults. Built-ins manage the same agent, with the triggers that a host would try and with marks
for the prompt cache at the system prompt and the newest two messages, where the provider needs them. Everybody's summaries are by the simulator's
summarizer, and their price is included. Prices are those of claude-sonnet-4-6 and, for OpenAI, gpt-5.4. Rules are instructions of the user that the
last request still has word for word; facts were mentioned once, in passing. We did not look for other settings
with which a built-in that fails here would not.`,
      targetTable([...targetsOf(rows), ...agentSdkTargets(agentSdk, turns)]),
      rowsTable(rows),
      `## Claude Agent SDK ${agentSdk.version}`,
      agentSdkText,
      agentSdkTable(agentSdk, turns),
    ],
  }
}
