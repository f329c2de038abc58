// The contract of every adapter: an agent with many turns, parallel calls, images, thinking and faults, in a window for only a
// fraction of it, over HTTP. The simulator that plays the model inspects everything that the model sees.
import {
  type Answer,
  asksForNotes,
  asksForSummary,
  combine,
  type FaultRule,
  noteTaker,
  route,
  type Script,
  type ScriptRequest,
  startServer,
  summarizer,
  text,
  thinking,
  toolUse,
} from '@everlong/simulator'
import type { EngineSettings, Session } from 'everlong'
import { windowOf } from './windows.ts'

export type Said = {
  readonly text: string
  readonly image?: string
  /** The host's conversation of the message. Default: the only one. */
  readonly conversation?: string
  /** The model that answers this message. Default: that of the agent. */
  readonly model?: string
  readonly signal?: AbortSignal
}

/** A process with an agent that is built on some SDK. It may have several conversations. */
export type Conversation = {
  /** Lets the agent work until it answers. Errors of the SDK are thrown. */
  readonly say: (said: Said) => Promise<string>
  /** The open sessions of Everlong. */
  readonly sessions: () => readonly Session[]
  readonly close?: () => Promise<void>
}

export type AgentInput = {
  readonly url: string
  readonly model: string
  /** Settings of Everlong. */
  readonly settings: EngineSettings
  /** With Everlong, or with the SDK alone. */
  readonly isManaged: boolean
  readonly system: string
  /** What the host stores: it outlives the process. */
  readonly storage: Map<string, unknown>
  /** The agent's one tool: `read({ module, part })`. */
  readonly read: (input: { readonly module: number; readonly part: number }) => string
}

export type Adapter = {
  readonly name: string
  readonly start: (input: AgentInput) => Promise<Conversation>
  /** Repeats a prompt that was too long. Some plug-in points come too early for that. */
  readonly recovers?: boolean
  /** Whether its API has a place for thinking (default true). Chat completions have none. */
  readonly thinks?: boolean
  /** Whether the usage of answers is reported to Everlong (default: true). Without it, Everlong knows no cost. */
  readonly reportsUsage?: boolean
  /** Whether an abort ends a compaction (default: true). Some plug-in points do not learn of aborts. */
  readonly abortsSummaries?: boolean
}

export type Run = {
  /** Number of answered turns. */
  readonly turns: number
  readonly error?: string
  readonly requests: number
  /** Requests that the API refused because of their content. */
  readonly refused: readonly string[]
  readonly promptTokens: number
  readonly largestPrompt: number
  readonly cost: number
  readonly summaries: number
  /** Number of the user's rules in the last request, word for word. */
  readonly rules: number
  /** Number of the user's facts in the last request. */
  readonly facts: number
  /** Requests with results of calls, and how many of them have the thinking of the answer with the calls. */
  readonly withResults: number
  readonly withThinking: number
  /** Requests that begin a turn with an image, and how many of them contain the image. */
  readonly askedWithImage: number
  readonly withImage: number
}

export type RunOptions = {
  readonly isManaged: boolean
  readonly turns?: number
  readonly model?: string
  readonly window?: number
  /** The window that the adapter is told, if it is not the real one. */
  readonly toldWindow?: number
  /** Lines of each part that the tool reads. Longer parts fill the window in fewer turns. */
  readonly linesPerPart?: number
  readonly economy?: EngineSettings['economy']
  /** Rate limits and answers in small chunks (default: true). */
  readonly faults?: boolean
}

export const rules: readonly string[] = [
  'Never touch migration.sql, whatever anybody asks.',
  'Always answer in one sentence.',
  'Do not add a dependency without asking me.',
]
/** The turns in which the user states the rules, as shares of the conversation. */
const ruleShares = [0, 0.3, 0.6]
export const facts: readonly string[] = Array.from(
  { length: 10 },
  (_, at) => `service ${at} listens on port ${41_000 + 37 * at}`,
)

const attached = 'The screenshot is attached.'
const system = 'You are a careful engineer who looks after forty modules.'
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export type ContractReport = {
  /** Broken promises as sentences. Empty if the contract is kept. */
  readonly broken: readonly string[]
  readonly managed: Run
  readonly bare: Run
}

/** The messages of each conversation as a host keeps them: in memory, and as JSON for the next process. */
export function storedLists<Item>(storage: Map<string, unknown>) {
  const lists = new Map<string, Item[]>()
  return {
    of: (conversation = 'one'): Item[] => {
      const list = lists.get(conversation) ?? (JSON.parse(String(storage.get(conversation) ?? '[]')) as Item[])
      lists.set(conversation, list)
      return list
    },
    save: (): void => {
      for (const [conversation, list] of lists) storage.set(conversation, JSON.stringify(list))
    },
  }
}

export type ContractOptions = Pick<RunOptions, 'model' | 'window' | 'linesPerPart' | 'economy'> & {
  readonly turns: number
}

/**
 * The same conversation with and without Everlong, then one whose model changes, then a provider whose window is smaller than
 * declared.
 */
export async function runAdapterContract(adapter: Adapter, options: ContractOptions): Promise<ContractReport> {
  const conversation = { model: 'claude-fable-5-1', ...options }
  const { turns } = conversation
  const bare = await runAdapter(adapter, { ...conversation, isManaged: false })
  const managed = await runAdapter(adapter, { ...conversation, isManaged: true })
  const broken = [
    ...(bare.turns < turns ? [] : ['without Everlong the conversation is too long']),
    ...brokenBy(managed, turns),
    ...managed.refused.map((why) => `no request is refused: ${why}`),
    ...(managed.summaries > 0 ? [] : ['the conversation is compacted']),
    ...(adapter.thinks === false ? [] : lostThinking(managed, bare)),
    ...(managed.withImage > 0 && managed.withImage === managed.askedWithImage
      ? []
      : [`images go to the model, not ${managed.withImage} of ${managed.askedWithImage}`]),
    ...(await runModelChanges(adapter)),
  ]
  if (!adapter.recovers) return { broken, managed, bare }
  const most = Math.min(40, turns)
  // The default clears so much that the window would not fill.
  const trusting = {
    ...conversation,
    isManaged: true,
    turns: most,
    toldWindow: 200_000,
    economy: 'claude-code',
  } as const
  const surprised = await runAdapter(adapter, trusting)
  const recovery = surprised.refused.length > 0 ? brokenBy(surprised, most) : ['the provider refuses what is too long']
  return { broken: [...broken, ...recovery.map((promise) => `after an overflow: ${promise}`)], managed, bare }
}

const modelsInTurn = ['claude-sonnet-4-6', 'claude-haiku-4-5', 'claude-sonnet-4-6', 'claude-opus-4-1']

/** Every message goes to another model. The window and the prices are those of the called model, and each answer keeps the name of its own. */
async function runModelChanges(adapter: Adapter): Promise<readonly string[]> {
  const server = await startServer({ script: () => text('Fine.'.repeat(200)) })
  const [model = ''] = modelsInTurn
  const input = { url: server.url, model, settings: {}, isManaged: true, system, read: () => '', storage: new Map() }
  const conversation = await adapter.start(input)
  const broken: string[] = []
  const costs = [0]
  for (const [at, called] of modelsInTurn.entries()) {
    await conversation.say({ text: `Say something about module ${at}.`, model: called })
    costs.push(server.simulator.meter.totals().cost)
    const [session] = conversation.sessions()
    if (!session) return ['a conversation has a session']
    const answers = [...(await session.entries())].filter(({ record }) => record.type === 'assistant')
    const found = {
      window: session.explain().effectiveWindow.value,
      authors: answers.map(({ record }) => (record.message as { readonly model?: string }).model),
      cost: session.spent().turn.cost?.toFixed(9),
    }
    // Most SDKs pass the newest answer with the next call. Sessions of the Agents SDK pass it at once.
    const count = answers.length === at + 1 ? at + 1 : at
    const cost = adapter.reportsUsage === false ? 0 : costs[count]
    const expected = {
      window: await windowOf(called),
      authors: modelsInTurn.slice(0, count),
      cost: cost?.toFixed(9),
    }
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      broken.push(`a call of ${called} has ${JSON.stringify(expected)}, not ${JSON.stringify(found)}`)
    }
  }
  await conversation.close?.()
  await server.close()
  return broken
}

/**
 * Compared with the SDK alone, which may drop thinking itself. A reduction in the middle of a turn may remove the thinking of the
 * previous answer, so more than half of the SDK's share is enough.
 */
function lostThinking(managed: Run, bare: Run): readonly string[] {
  if (bare.withThinking === 0) return ['without Everlong, thinking goes back to the model']
  if (managed.withThinking * bare.withResults * 2 > bare.withThinking * managed.withResults) return []
  const countsIn = ({ withThinking, withResults }: Run) => `${withThinking} of ${withResults} requests`
  return [`thinking goes back to the model, not only in ${countsIn(managed)}; without Everlong in ${countsIn(bare)}`]
}

function brokenBy(run: Run, turns: number): readonly string[] {
  return [
    ...(run.turns === turns ? [] : [`all ${turns} turns are answered, not ${run.turns}: ${run.error}`]),
    ...(run.rules === rules.length ? [] : [`all ${rules.length} rules are still there, not ${run.rules}`]),
  ]
}

export async function runAdapter(adapter: Adapter, options: RunOptions): Promise<Run> {
  const { isManaged, turns = 200, model = 'claude-sonnet-4-6', window = 60_000, toldWindow = window } = options
  const read = fileOf(options.linesPerPart ?? 40)
  const seen = createSight()
  const server = await startServer({
    script: seen.watching(worker()),
    windows: { [model]: window },
    faults: {
      rules:
        options.faults === false
          ? []
          : [
              ...(isManaged && toldWindow === window ? [rateLimits(turns)] : []),
              { probability: 0.03, fault: { type: 'split', longest: 300 } },
            ],
    },
    logEntries: 10_000,
  })
  const settings = { contextWindow: toldWindow, economy: options.economy }
  const input = { url: server.url, model, settings, isManaged, system, read, storage: new Map() }
  let answered = 0
  let error: string | undefined
  const conversation = await adapter.start(input)
  try {
    for (let turn = 1; turn <= turns; turn++) {
      const answer = await conversation.say(saidAt(turn, turns))
      if (!answer.includes(`Module ${turn}`)) throw new Error(`turn ${turn} was answered with: ${answer.slice(0, 200)}`)
      answered++
    }
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown)
  }
  await conversation.close?.()
  const { entries } = server.simulator.log
  const { cost, input: plain, read: cached, write5m, write1h } = server.simulator.meter.totals()
  const prompts = entries.flatMap(({ samplings }) =>
    samplings.map((one) => one.input + one.read + one.write5m + one.write1h),
  )
  await server.close()
  return {
    turns: answered,
    ...(error === undefined ? {} : { error }),
    requests: entries.length,
    refused: entries.filter(({ status }) => status === 400 || status === 413).map(({ outcome }) => outcome),
    promptTokens: plain + cached + write5m + write1h,
    largestPrompt: Math.max(0, ...prompts),
    cost,
    ...seen.report(),
  }
}

/** Some SDKs wait for seconds before they try again, so a short conversation has two of these: early, and after a compaction. */
function rateLimits(turns: number): FaultRule {
  const fault = { type: 'rate-limit', retryAfterMs: 1 } as const
  return turns > 50 ? { probability: 0.03, fault } : { when: (_, ordinal) => ordinal === 12 || ordinal === 77, fault }
}

function saidAt(turn: number, turns: number): Said {
  const rule = rules.find((_, at) => turn === Math.max(1, Math.round((ruleShares[at] ?? 0) * turns)))
  const fact = turn % 20 === 5 ? facts[Math.floor(turn / 20)] : undefined
  const extra = [rule, fact && `For your information: ${fact}.`].filter((part) => part !== undefined).join(' ')
  const words = `Look into module ${turn} and tell me what it does. ${extra}`.trim()
  return turn % 25 === 4 ? { text: `${words} ${attached}`, image: pixel } : { text: words }
}

const fileOf =
  (length: number): AgentInput['read'] =>
  ({ module, part }) => {
    const lines = Array.from(
      { length },
      (_, at) => `  step${at}: handler${(module * 31 + at * 7) % 97}(${part}, "${module}-${at}")`,
    )
    return `module ${module} part ${part}\n${lines.join('\n')}`
  }

/** The model: two parts at once, then a third, then an answer. Depends only on the newest message. */
function worker(): Script {
  const work = ({ messages }: ScriptRequest): Answer => {
    const last = JSON.stringify(messages.at(-1))
    const part = [...last.matchAll(/module (\d+) part (\d)/g)].at(-1)
    if (part?.[2] === '3') return text(`Module ${part[1]} is a list of handlers.`)
    if (part)
      return combine(thinking(`One part of ${part[1]} is left.`), toolUse('read', { module: Number(part[1]), part: 3 }))
    const module = Number([...last.matchAll(/Look into module (\d+)/g)].at(-1)?.[1] ?? 0)
    const parts = [1, 2].map((at) => toolUse('read', { module, part: at }))
    return combine(thinking(`Module ${module} has several parts.`), text('I look.'), ...parts)
  }
  const answers = [
    { when: asksForSummary, script: summarizer() },
    { when: asksForNotes, script: noteTaker() },
  ]
  return route(answers, work)
}

/** What the model saw: counts over all requests, and rules and facts in the last request that was not for a summary. */
function createSight() {
  let summaries = 0
  let last = ''
  const counts = { withResults: 0, withThinking: 0, askedWithImage: 0, withImage: 0 }
  const look = (messages: ScriptRequest['messages']): void => {
    const [answer = '', newest = ''] = messages.slice(-2).map((message) => JSON.stringify(message))
    const hasResults = newest.includes('"type":"tool_result"')
    const isWithImage = !hasResults && newest.includes(attached)
    counts.withResults += Number(hasResults)
    counts.withThinking += Number(hasResults && answer.includes('"type":"thinking"'))
    counts.askedWithImage += Number(isWithImage)
    counts.withImage += Number(isWithImage && newest.includes('"type":"image"'))
  }
  return {
    watching:
      (script: Script): Script =>
      (request, context) => {
        const all = JSON.stringify(request.messages)
        if (asksForSummary(request)) summaries++
        else if (!asksForNotes(request)) {
          last = all
          look(request.messages)
        }
        return script(request, context)
      },
    report: () => ({
      summaries,
      rules: rules.filter((rule) => last.includes(rule)).length,
      facts: facts.filter((fact) => last.includes(fact)).length,
      ...counts,
    }),
  }
}
