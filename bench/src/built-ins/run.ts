// `npm run bench -- built-ins [--dry] [--only NAME]`: what each SDK's own way to keep a conversation small leaves for the
// next request and what it costs, next to ours through the adapter for that SDK. Results hold no text of the transcripts.
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Message } from 'everlong'
import { defineBenchmark } from '../benchmark.ts'
import { countTokens } from '../fidelity/measure.ts'
import { within } from '../fidelity/peers.ts'
import { summaryIn } from '../handover/contexts.ts'
import { gradeContext, meanScore, type Probe, type ProbeSet, readProbes, weightedMean } from '../handover/grade.ts'
import { caseOf } from '../handover/run.ts'
import { versionsOf } from '../peers/versions.ts'
import { dataFolder } from '../root.ts'
import { aiSdk } from './ai-sdk.ts'
import { type Contender, dueAt, type Sdk } from './contender.ts'
import { type Conversation, conversationOf } from './conversation.ts'
import { langchain } from './langchain.ts'
import { mastra } from './mastra.ts'
import { openaiAgents } from './openai-agents.ts'
import { type BuiltInsReport, builtInsPage, type Row } from './page.ts'
import { textOf, tokensOf } from './size.ts'
import { createWorld, type World } from './world.ts'

const sdks: readonly Sdk[] = [langchain, aiSdk, openaiAgents, mastra]
const limits = [6_000, 12_000, 24_000] as const

export const benchmark = defineBenchmark({ name: 'built-ins', run, page: builtInsPage })

async function run(args: readonly string[]): Promise<BuiltInsReport | undefined> {
  const { values } = parseArgs({ args: [...args], options: { only: { type: 'string' } } })
  const [probes, transcripts] = [dataFolder('probes'), dataFolder('transcripts')]
  if (probes === undefined || transcripts === undefined || !existsSync(probes)) {
    console.error('No probes: this benchmark needs the recorded sessions and their questions (EVERLONG_DATA).')
    process.exitCode = 2
    return undefined
  }
  const rows: Row[] = []
  const sets = readProbes(probes)
  for (const set of sets) {
    const conversation = conversationOf(caseOf(set, { probes, transcripts }))
    for (const sdk of sdks) {
      rows.push(...(await rowsOf({ set, conversation, sdk, only: values.only })))
      console.error(`${set.name} ${sdk.name}`)
    }
  }
  return {
    cases: sets.length,
    probes: sets.reduce((sum, set) => sum + set.probes.length, 0),
    limits,
    versions: versionsOf(['langchain', 'ai', '@openai/agents', '@mastra/core']),
    rows,
  }
}

type Task = {
  readonly set: ProbeSet
  readonly conversation: Conversation
  readonly sdk: Sdk
  readonly only?: string | undefined
}

async function rowsOf({ set, conversation, sdk, only }: Task): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const contender of sdk.contenders) {
    if (only !== undefined && contender.name !== only) continue
    for (const limit of limits) rows.push(await measure({ set, conversation, sdk, contender, limit }))
  }
  return rows
}

type Measured = Task & { readonly contender: Contender; readonly limit: number }

async function measure({ set, conversation, sdk, contender, limit }: Measured): Promise<Row> {
  const { history, steps } = conversation
  const answer = set.answers.strong
  const world = createWorld(answer, contender)
  const start = await startOf({ world, sdk, history })
  const input = { world, history, limit, ...start, summary: countTokens(summaryIn(answer)) }
  const call = await contender.start(input)
  let known = 0
  for (const end of start.ends) {
    await call(history.slice(known, end))
    known = end
  }
  await sdk.plain(world)(history.slice(0, start.previous))
  world.reset()
  await call(history.slice(known))
  const sent = world.sent()
  const first = world.bill()
  for (const step of steps) await call(step)
  const { price, requests, summaries, refused } = world.bill()
  const context = textOf(sent)
  const grades = gradeContext(graded(context, { limit, summary: summaryIn(answer) }), set.probes as readonly Probe[])
  return {
    case: set.name,
    sdk: sdk.name,
    contender: contender.name,
    limit,
    before: tokensOf(history),
    tokens: countTokens(context),
    score: meanScore(grades),
    weighted: weightedMean(grades),
    reduction: first.price,
    price,
    requests,
    summaries,
    refused,
  }
}

type Place = { readonly world: World; readonly sdk: Sdk; readonly history: readonly Message[] }

type Start = {
  readonly due: number
  readonly scale: number
  /** How much of the history each of the calls before has, until the next one would be over what is due. */
  readonly ends: readonly number[]
  /** Where the request before the last ended. */
  readonly previous: number
}

/** A session estimates tokens that the provider has not counted yet and adds a third; this is a little more. */
const margin = 1.5

/**
 * The session has been going on until just before its limit, and the request before is in the cache. A large last message
 * counts little: its results are shortened before a compaction is thought of.
 */
async function startOf({ world, sdk, history }: Place): Promise<Start> {
  await sdk.plain(world)(history)
  const scale = world.promptTokens() / tokensOf(history)
  const sizeOf = (end: number) => tokensOf(history.slice(0, end)) * scale
  const due = Math.floor(Math.min(world.promptTokens() * dueAt, sizeOf(history.length - 1) * 1.15))
  const users = history
    .slice(0, -1)
    .flatMap(({ role }, at) => (role === 'user' ? [{ end: at + 1, size: sizeOf(at + 1) }] : []))
  const ends: number[] = []
  let known = { end: 0, size: 0 }
  for (;;) {
    const next = users.findLast(({ size }) => known.size + ((size - known.size) * margin) / scale < due)
    if (next === undefined || next.end <= known.end) return { due, scale, ends, previous: users.at(-1)?.end ?? 0 }
    ends.push(next.end)
    known = next
  }
}

/** What is over the limit is cut as in the handover benchmark: the summary stays, and the newest of what follows. */
function graded(context: string, { limit, summary }: { readonly limit: number; readonly summary: string }): string {
  if (countTokens(context) <= limit) return context
  const at = context.indexOf(summary)
  return at < 0
    ? within(limit, '', context)
    : within(limit, summary, context.slice(0, at) + context.slice(at + summary.length))
}
