// Many conversations through several gateways on one database, while gateways are killed and paused and the database restarts.
// Afterwards each conversation must be one session with every message once and in order, and nothing of another conversation.
import { setTimeout as pause } from 'node:timers/promises'
import { type RunningServer, startServer } from '@everlong/simulator'
import { textOf } from 'everlong/internal'
import { mulberry32 } from 'everlong/internal/testing'
import { postgres } from 'everlong/postgres'
import type { TestServer } from '../../../engine/src/stores/testing/postgres-server.ts'
import { type Crew, startCrew } from './crew.ts'
import { recordsIn, spoken } from './setup.ts'

export type ScenarioOptions = {
  readonly conversations: number
  readonly turns: number
  readonly seed: number
  readonly leaseMs: number
  /** Milliseconds between two disturbances. */
  readonly everyMs: number
  /** Every n-th disturbance is a restart of the database; of the others, half are kills and half are pauses. */
  readonly restartEvery: number
  /** No turn begins after this time. */
  readonly maxMs: number
}

export type ScenarioReport = {
  readonly replies: number
  /** Number of repeated requests, because the first got no answer. */
  readonly retries: number
  readonly kills: number
  readonly pauses: number
  readonly restarts: number
  readonly records: number
  readonly events: Readonly<Record<string, number>>
  /** Problems as sentences. */
  readonly problems: readonly string[]
}

type Counts = { replies: number; retries: number; kills: number; pauses: number; restarts: number; problems: string[] }

const tenants = ['acme', 'rivals']
const levels = ['observe', 'observe', 'observe', 'answer', 'manage'] as const

type Conversation = {
  readonly tenant: string
  /** Undefined if it is found by its content. */
  readonly name: string | undefined
  readonly key: string
  readonly words: (turn: number) => string
}

/** Two tenants have conversations of the same names. Every second pair has none. */
function conversationAt(at: number): Conversation {
  const tenant = tenants[at % 2] ?? ''
  const nth = Math.floor(at / 2)
  const level = levels[nth % levels.length]
  const id = `${tenant}-${nth}`
  return {
    tenant,
    name: nth % 2 === 0 ? `chat-${nth}` : undefined,
    key: `${tenant}-${level}`.padEnd(32, 'x'),
    words: (turn) => `Turn ${turn} of ${id}.`,
  }
}

const keys = tenants.flatMap((tenant) =>
  [...new Set(levels)].map((level) => ({
    ...{ name: `${tenant}-${level}`, tenant, level },
    secrets: [`${tenant}-${level}`.padEnd(32, 'x')],
  })),
)

export async function runScenario(database: TestServer, options: ScenarioOptions): Promise<ScenarioReport> {
  const schema = `replicas_${options.seed}`
  const upstream = await startServer({ port: 0, script: ({ messages }) => replyTo(textOf(messages.at(-1)?.content)) })
  const crew = await startCrew(3, configOf({ database, upstream, schema, leaseMs: options.leaseMs }))
  const counts: Counts = { replies: 0, retries: 0, kills: 0, pauses: 0, restarts: 0, problems: [] }
  const all = Array.from({ length: options.conversations }, (_, at) => conversationAt(at))
  const running = { crew, options, counts, until: Date.now() + options.maxMs }
  let isOver = false
  try {
    const disturbing = disturb(running, { database, isOver: () => isOver })
    const talks = await Promise.all(
      all.map((one, at) => talk(one, { ...running, random: mulberry32(options.seed + at) })),
    )
    isOver = true
    await disturbing
    // The last answer of a conversation may be lost with its gateway; a further turn sends it again.
    await Promise.all(talks.map((say) => say(options.turns + 1)))
  } finally {
    isOver = true
    await crew.stop()
    await upstream.close()
  }
  const checked = await check(all, { database, schema, turns: options.turns + 1 })
  const { problems, ...counted } = counts
  const events = Object.fromEntries(crew.events)
  const found = [...problems, ...crew.problems, ...checked.problems]
  // Without them the cause of a problem cannot be found.
  if (found.length > 0) found.push(`The logs of the gateways: ${JSON.stringify(events)}`)
  return { ...counted, records: checked.records, events, problems: found }
}

function replyTo(words: string) {
  return { content: [{ type: 'text' as const, text: `Reply to ${words}` }] }
}

type Place = {
  readonly database: TestServer
  readonly upstream: RunningServer
  readonly schema: string
  readonly leaseMs: number
}

function configOf({ database, upstream, schema, leaseMs }: Place): object {
  return {
    ...{ listen: { port: 0 }, keys, upstreams: { simulator: { url: upstream.url } } },
    defaultUpstreams: { messages: 'simulator', openai: 'simulator' },
    store: { postgres: database.url, schema, leaseMs, connections: 8 },
    limits: { stopMs: 60_000 },
  }
}

type Running = {
  readonly crew: Crew
  readonly options: ScenarioOptions
  readonly counts: Counts
  readonly until: number
}

async function disturb(
  { crew, options, counts }: Running,
  { database, isOver }: { readonly database: TestServer; readonly isOver: () => boolean },
): Promise<void> {
  const random = mulberry32(options.seed)
  for (let step = 1; ; step++) {
    await pause(options.everyMs * (0.5 + random()))
    if (isOver()) return
    const nth = Math.floor(random() * 3)
    if (step % options.restartEvery === 0) {
      counts.restarts++
      await database.restart(counts.restarts % 2 === 0 ? 'shutdown' : 'crash')
    } else if (step % 2 === 0) {
      counts.pauses++
      crew.pause(nth, options.leaseMs * 1.5)
    } else {
      counts.kills++
      crew.kill(nth)
    }
  }
}

type Talking = Running & { readonly random: () => number }
type Said = { readonly role: 'user' | 'assistant'; readonly content: string }

/** Says all turns in order. Returns a function that says another one. */
async function talk(conversation: Conversation, talking: Talking): Promise<(turn: number) => Promise<void>> {
  const { options, counts, until, random } = talking
  let history: readonly Said[] = []
  const say = async (turn: number): Promise<void> => {
    const words = conversation.words(turn)
    const messages: readonly Said[] = [...history, { role: 'user', content: words }]
    const reply = await answerTo(messages, conversation, talking)
    if (reply !== `Reply to ${words}`) counts.problems.push(`${words} was answered with ${JSON.stringify(reply)}`)
    counts.replies++
    history = [...messages, { role: 'assistant', content: reply ?? '' }]
  }
  for (let turn = 1; turn <= options.turns; turn++) {
    if (Date.now() > until) {
      counts.problems.push(`${conversation.words(turn)} was not reached in time`)
      break
    }
    // On a fast machine, all turns could be over before any disturbance.
    while (turn === options.turns && isMissingOne(counts) && Date.now() < until) await pause(20)
    await say(turn)
    await pause(random() * 50)
  }
  return say
}

function isMissingOne({ kills, pauses, restarts }: Counts): boolean {
  return [kills, pauses, restarts].includes(0)
}

/** Asks one gateway after another until one answers. */
async function answerTo(messages: readonly Said[], { key, name }: Conversation, { crew, counts, random }: Talking) {
  const named = name === undefined ? {} : { 'x-everlong-session': name }
  const headers = { 'x-api-key': 'any', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'claude-opus-5', max_tokens: 100, messages })
  for (let attempt = 0; attempt < 200; attempt++) {
    const urls = crew.urls()
    const url = urls[Math.floor(random() * urls.length)]
    if (attempt > 0) counts.retries++
    try {
      const response = await fetch(`${url}/v1/messages`, {
        ...{ method: 'POST', body, headers: { ...headers, ...named, 'x-everlong-key': key } },
        signal: AbortSignal.timeout(30_000),
      })
      const { content } = (await response.json()) as { readonly content?: never }
      if (response.ok && content) return textOf(content)
    } catch {
      // Its gateway was killed or paused, or no longer listens.
    }
    await pause(20 + random() * 200)
  }
  return undefined
}

type Checking = { readonly database: TestServer; readonly schema: string; readonly turns: number }

async function check(all: readonly Conversation[], { database, schema, turns }: Checking) {
  const problems: string[] = []
  let records = 0
  for (const tenant of tenants) {
    const store = postgres({ url: database.url, schema, tenant })
    const own = all.filter((one) => one.tenant === tenant)
    const found = await store.list({ limit: own.length * 2 })
    if (found.length !== own.length) problems.push(`${tenant} has ${found.length} sessions, not ${own.length}`)
    const expected = new Map(own.map((one) => [one.words(1), one]))
    for (const { id } of found) {
      const session = await recordsIn(store, id)
      records += session.length
      const lines = spoken(session)
      const first = lines[0]?.replace('user: ', '') ?? ''
      const conversation = expected.get(first)
      expected.delete(first)
      if (conversation) problems.push(...problemsIn({ id, session, lines, conversation, turns }))
      else
        problems.push(
          `${tenant}: the session ${id} begins with ${JSON.stringify(first)}, which another has or nobody said`,
        )
    }
    for (const words of expected.keys()) problems.push(`${tenant}: no session begins with ${words}`)
    await store.close()
  }
  return { records, problems }
}

type Session = {
  readonly id: string
  readonly session: Awaited<ReturnType<typeof recordsIn>>
  readonly lines: readonly string[]
  readonly conversation: Conversation
  readonly turns: number
}

function problemsIn({ id, session, lines, conversation, turns }: Session): readonly string[] {
  const problems: string[] = []
  const { name, tenant, words } = conversation
  const at = `${tenant}/${id}`
  const expected = Array.from({ length: turns }, (_, turn) => words(turn + 1)).flatMap((said) => [
    ...[`user: ${said}`, `assistant: Reply to ${said}`],
  ])
  if (JSON.stringify(lines) !== JSON.stringify(expected)) {
    const first = expected.findIndex((line, nth) => lines[nth] !== line)
    problems.push(`${at}: ${lines.length} lines; line ${first} is ${lines[first]}, not ${expected[first]}`)
  }
  if (name !== undefined && name !== id) problems.push(`${at} should be ${name}`)
  const uuids = session.map(({ uuid }) => uuid)
  if (new Set(uuids).size !== uuids.length) problems.push(`${at}: a record is there twice`)
  if (session.some(({ sessionId }) => sessionId !== id)) problems.push(`${at}: a record of another session`)
  if (session.some(({ parentUuid }, nth) => parentUuid !== (uuids[nth - 1] ?? null)))
    problems.push(`${at}: records do not follow one another`)
  return problems
}
