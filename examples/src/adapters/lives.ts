// Requirements for an adapter beyond one long conversation: processes that end, two people at once, aborted calls. A new process
// is a new instance of the adapter; only the host's storage is the same.
import {
  type Answer,
  asksForNotes,
  asksForSummary,
  noteTaker,
  type RunningServer,
  type Script,
  type ScriptRequest,
  startServer,
  summarizer,
  text,
  toolUse,
} from '@everlong/simulator'
import type { Adapter, Conversation } from './contract.ts'

const model = 'claude-sonnet-4-6'
const window = 36_000
/** Settings with which it compacts after a few turns instead of only clearing. */
const settings = { contextWindow: window, economy: 'claude-code' } as const
const system = 'You are a careful engineer.'
const people = ['Ann', 'Bob'] as const
const lives = 3
const turns = 6

/** Facts that each person states once, in the first turns of the first life. */
const told = (person: string): readonly string[] => [
  `Never deploy the branch of ${person}.`,
  `For your information: the server of ${person} is at port 47${person.length}1.`,
  `Always greet ${person} in Latin.`,
]

/** Broken promises as sentences. Empty if the contract is kept. */
export async function runLives(adapter: Adapter): Promise<readonly string[]> {
  const world = await createWorld()
  const storage = new Map<string, unknown>()
  const broken: string[] = []
  for (let life = 1; life <= lives; life++) {
    const process = await world.start(adapter, storage)
    const before = { ...world.summaries }
    for (let turn = 1; turn <= turns; turn++) {
      for (const person of people) {
        const extra = life === 1 ? (told(person)[turn - 1] ?? '') : ''
        const words = `${person}: look into module ${life * 100 + turn}. ${extra}`.trim()
        const answer = await process.say({ text: words, conversation: person }).catch(String)
        if (!answer.includes('is a list of handlers')) broken.push(`life ${life}, ${words}: ${answer.slice(0, 200)}`)
      }
    }
    await process.close?.()
    for (const person of people) {
      const lost = told(person).filter((words) => !world.latest[person]?.includes(words))
      broken.push(...lost.map((words) => `life ${life} knows: ${words}`))
      if (world.summaries[person] === before[person]) broken.push(`life ${life} compacts for ${person}`)
    }
  }
  await world.close()
  return [...broken, ...world.mixed.map((words) => `two people never meet: ${words}`)]
}

/** Aborts a call while the model answers, then one while a summary is written. The conversation continues after each. */
export async function runAbort(adapter: Adapter): Promise<readonly string[]> {
  const world = await createWorld()
  const process = await world.start(adapter, new Map())
  const broken: string[] = []
  const say = (words: string, signal?: AbortSignal) =>
    process.say({ text: words, conversation: 'Ann', ...(signal ? { signal } : {}) })
  const abortAt = async (when: 'answer' | 'summary') => {
    const controller = new AbortController()
    const reached = world.hang(when)
    // It is unknown when that happens, so calls are made until one hangs.
    let call: Promise<string> = Promise.resolve('')
    for (let turn = 1; turn <= 20; turn++) {
      call = say(`Ann: look into module ${turn}.`, controller.signal)
      const first = await Promise.race([reached.then(() => 'hangs'), call.then(String, String)])
      if (first === 'hangs') break
    }
    controller.abort()
    const ended = await Promise.race([
      call.then(
        () => 'answered',
        () => 'ended',
      ),
      world.patience(),
    ])
    if (ended !== 'ended') broken.push(`an abort while there is no ${when} yet ends the call: it ${ended}`)
    // The request that hangs is abandoned, and nothing may wait for it.
    world.hangNoMore()
    const answer = await Promise.race([say('Ann: look into module 900.').catch(String), world.patience()])
    if (!answer.includes('Module 900')) broken.push(`after an abort at the ${when} the conversation goes on: ${answer}`)
  }
  await say('Ann: look into module 1.')
  await abortAt('answer')
  if (adapter.abortsSummaries !== false) await abortAt('summary')
  world.letGo()
  await process.close?.()
  await world.close()
  return broken
}

/** How long a call may take to end after an abort. Only a broken one takes that long. */
const patienceMs = 10_000

type Hanging = { readonly at: 'answer' | 'summary'; readonly reached: () => void; readonly until: Promise<void> }

async function createWorld() {
  const latest: Record<string, string> = {}
  const summaries: Record<string, number> = {}
  const mixed: string[] = []
  let hanging: Hanging | undefined
  const waiting: (() => void)[] = []
  const script: Script = async (request, context) => {
    const all = JSON.stringify(request.messages)
    const present = people.filter((person) => all.includes(`${person}: look`))
    if (present.length > 1) mixed.push(all.slice(0, 300))
    const isSummary = asksForSummary(request)
    if (hanging && isSummary === (hanging.at === 'summary')) {
      const { reached, until } = hanging
      reached()
      await until
    }
    if (asksForNotes(request)) return noteTaker()(request, context)
    for (const person of present) {
      if (isSummary) summaries[person] = (summaries[person] ?? 0) + 1
      else latest[person] = all
    }
    return isSummary ? summarizer()(request, context) : work(request)
  }
  const server: RunningServer = await startServer({ script, windows: { [model]: window }, logEntries: 10_000 })
  return {
    latest,
    summaries,
    mixed,
    start: (adapter: Adapter, storage: Map<string, unknown>): Promise<Conversation> =>
      adapter.start({ url: server.url, model, settings, isManaged: true, system, read: moduleText, storage }),
    /** Leaves the next request of this kind unanswered. Resolves when it has arrived. */
    hang: (at: Hanging['at']): Promise<void> =>
      new Promise((reached) => {
        hanging = {
          at,
          reached,
          until: new Promise((resolve) => {
            waiting.push(resolve)
          }),
        }
      }),
    hangNoMore: () => {
      hanging = undefined
    },
    letGo: () => {
      for (const resolve of waiting.splice(0)) resolve()
    },
    patience: () => new Promise<string>((resolve) => void setTimeout(() => resolve('waits'), patienceMs).unref()),
    close: server.close,
  }
}

/** Reads the module that was asked for last, then answers. */
function work({ messages }: ScriptRequest): Answer {
  const last = JSON.stringify(messages.at(-1))
  const [, asked, read] = [...last.matchAll(/look into module (\d+)|module (\d+) part 1/g)].at(-1) ?? []
  return read === undefined
    ? toolUse('read', { module: Number(asked), part: 1 })
    : text(`Module ${read} is a list of handlers.`)
}

/** About 7,000 tokens. */
function moduleText({ module }: { readonly module: number }): string {
  const lines = Array.from(
    { length: 400 },
    (_, at) => `  step${at}: handler${(module * 31 + at * 7) % 97}("${module}-${at}")`,
  )
  return `module ${module} part 1\n${lines.join('\n')}`
}
