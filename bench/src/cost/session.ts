// Drives one session: the simulator's agent at work with its tools, people and their pauses, and one keeper of the context.
// It counts what everything cost. Nothing here knows how a context is managed.
import {
  asksForNotes,
  asksForSummary,
  createSimulator,
  noteTaker,
  type Repository,
  type RepositoryTools,
  type RouteRule,
  route,
  type Sampling,
  type Simulator,
  summarizer,
  toolsOf,
  turnableClock,
} from '@everlong/simulator'
import type { Block, Message } from 'everlong'
import { isObject, isToolUse, type JsonObject, type ToolUseBlock, textOf } from 'everlong/internal'
import { type Random, randomFrom } from '../random.ts'
import { pauseAfter } from './calendar.ts'
import { answering, gapBefore } from './gaps.ts'
import { answersPerTask, workOf } from './kinds.ts'
import { Person } from './person.ts'
import type { Setup } from './setup.ts'
import type { Keeper, Port, Posted, Refusal, Strategy } from './strategy.ts'
import { systemPrompt } from './system-prompt.ts'

export type Outcome = {
  readonly strategy: string
  /** US dollars. */
  readonly price: number
  readonly requests: number
  readonly read: number
  readonly written: number
  /** Input that was neither read from the cache nor written to it. */
  readonly plain: number
  readonly output: number
  readonly failed: Readonly<Record<Refusal, number>>
  readonly compactions: number
  readonly clearings: number
  readonly peak: number
  /** Average tokens of a request: the model's input while it worked. */
  readonly mean: number
  /**
   * Number of tasks done as requested, and of tasks that ended with something forgotten. If they add up to less, the session
   * could not continue.
   */
  readonly done: number
  readonly spoilt: number
  /** Of these, the ones that asked about an earlier task: answered, and all. */
  readonly answered: number
  readonly questions: number
  /** Number of answers for the tasks. */
  readonly answers: number
  /** Times that the file of a task was read though it had been read before. */
  readonly rereads: number
}

/** Summaries are asked for in many words; whoever offers no tools wants text. */
const isSummary: RouteRule['when'] = (request) => request.tools.length === 0 || asksForSummary(request)
/** What a model writes for a summary or notes, whatever it may: the limit of a request that shares the cache is the turn's. */
const maxSummary = 4_096
/** Shorter than the lifetime of any cache. */
const shortPause = 60_000
/** A back-off, which takes no time here. */
const shortWait = 10_000
/** Agents cut long results at the source; this many characters are common. */
const maxResult = 30_000
/** A session that takes this many times the answers it should is going in circles. */
const maxDetours = 2
const headers = { 'content-type': 'application/json', 'x-api-key': 'bench', 'anthropic-version': '2026-10-21' }

export async function runSession(setup: Setup, strategy: Strategy): Promise<Outcome> {
  return new Session(setup, strategy).run()
}

class Session {
  private readonly clock = turnableClock()
  /** Apart, so that a person's pause after a task is the same however many answers the task took. */
  private readonly pauses: Readonly<Record<'human' | 'tools', Random>>
  private readonly started = this.clock.now()
  private readonly timers = new Set<{ readonly at: number; readonly end: () => void }>()
  private readonly simulator: Simulator
  private readonly repository: Repository
  private readonly tools: RepositoryTools
  private readonly notes = { compaction: 0, clearing: 0 }
  private readonly person: Person
  private readonly tasks = { done: 0, spoilt: 0 }
  private readonly questions = { done: 0, spoilt: 0 }
  private readonly reads = new Set<string>()
  private rereads = 0
  private answers = 0
  private readonly setup: Setup
  private readonly strategy: Strategy

  constructor(setup: Setup, strategy: Strategy) {
    this.setup = setup
    this.strategy = strategy
    const { repository, script } = workOf(setup.kind, setup.seed)
    this.repository = repository
    this.pauses = { human: randomFrom(setup.seed), tools: randomFrom(setup.seed + 2_000) }
    this.person = new Person(repository, setup.seed)
    this.tools = toolsOf(repository)
    const { seed } = setup
    const rules: readonly RouteRule[] = [
      { when: asksForNotes, script: noteTaker() },
      { when: isSummary, script: summarizer({ seed, budget: maxSummary }) },
    ]
    this.simulator = createSimulator({
      clock: this.clock,
      seed,
      windows: { [setup.model]: setup.window },
      script: route(rules, script),
      summarizer: summarizer({ lastTextAsks: true, seed, budget: maxSummary }),
    })
  }

  async run(): Promise<Outcome> {
    const keeper = await this.strategy.open(this.port())
    keeper.told(this.human())
    const most = this.setup.tasks * answersPerTask * maxDetours
    while (this.answers < most) {
      const content = await keeper.answer()
      if (!content) break
      this.answers++
      const uses = content.filter(isToolUse)
      const isEnded = uses.length === 0
      if (isEnded) this.ended(textOf(content))
      if (this.tasks.done + this.tasks.spoilt === this.setup.tasks) break
      const next = isEnded ? 'human' : 'tools'
      await this.pass(this.gapBefore(next), keeper)
      if (isEnded) keeper.told(this.human())
      else keeper.told({ role: 'user', content: await this.resultsOf(uses, keeper) })
    }
    await keeper.close?.()
    return this.outcome()
  }

  private gapBefore(next: 'human' | 'tools'): number {
    const { pauses, clock, started } = this
    const tasks = this.tasks.done + this.tasks.spoilt
    if (this.setup.pauses === 'calendar' && next === 'human')
      return pauseAfter({ tasks, elapsed: clock.now() - started }, pauses.human)
    const gap = gapBefore(next, pauses[next])
    return this.setup.pauses === 'none' ? Math.min(gap, shortPause) : gap
  }

  /** Time passes; timers that end meanwhile are heard at their time. */
  private async pass(milliseconds: number, keeper: Keeper): Promise<void> {
    const { clock } = this
    const end = clock.now() + milliseconds
    for (;;) {
      const due = [...this.timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0]
      if (!due) break
      this.timers.delete(due)
      clock.turn(Math.max(0, due.at - clock.now()))
      due.end()
      await keeper.settled?.()
    }
    clock.turn(Math.max(0, end - clock.now()))
  }

  private wait: Port['wait'] = (milliseconds, signal) =>
    new Promise((resolve) => {
      if (milliseconds < shortWait) return resolve()
      // Answers take no real time here, so nothing has to be kept alive meanwhile.
      const timer = { at: this.clock.now() + milliseconds, end: resolve }
      if (milliseconds >= shortPause) this.timers.add(timer)
      signal?.addEventListener('abort', () => {
        this.timers.delete(timer)
        resolve()
      })
    })

  private human(): Message {
    return { role: 'user', content: [{ type: 'text', text: this.person.asks() }] }
  }

  private ended(answer: string): void {
    const how = this.person.isContentWith(this.tools.files, answer) ? 'done' : 'spoilt'
    this.tasks[how]++
    if (!this.person.isAsking) return
    this.questions[how]++
  }

  private async resultsOf(uses: readonly ToolUseBlock[], keeper: Keeper): Promise<readonly Block[]> {
    const results: Block[] = []
    for (const use of uses) results.push(await this.resultOf(use, keeper))
    return results
  }

  private async resultOf({ id, name, input }: ToolUseBlock, keeper: Keeper): Promise<Block> {
    if (name === 'Read') this.countRead(isObject(input) ? String(input.file_path) : '')
    const { content: whole, isError } = (await keeper.run?.(name, input)) ?? this.tools.run(name, input)
    if (isObject(input) && String(input.command).startsWith('npm test -- ')) this.person.sees(whole)
    const content = whole.length <= maxResult ? whole : `${whole.slice(0, maxResult)}\n[cut off]`
    return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) } as Block
  }

  private countRead(path: string): void {
    if (this.reads.has(path) && path.endsWith(`/${this.person.subject}`)) this.rereads++
    this.reads.add(path)
  }

  private port(): Port {
    const { setup, tools, repository } = this
    return {
      setup,
      now: () => this.clock.now(),
      wait: this.wait,
      system: systemPrompt,
      tools: tools.definitions.map((definition) => ({ ...definition })),
      root: repository.root,
      files: {
        read: async (path) => {
          const text = tools.files.get(path.replace(`${repository.root}/`, ''))
          return text === undefined ? { type: 'missing' } : { type: 'text', text }
        },
      },
      fetch: (input, init) => {
        this.clock.turn(answering)
        return this.simulator.fetch(input, init)
      },
      post: (body, more) => this.post(body, more),
      note: (what) => {
        this.notes[what]++
      },
    }
  }

  private async post(body: JsonObject, more: Readonly<Record<string, string>> = {}): Promise<Posted> {
    this.clock.turn(answering)
    const response = await this.simulator.fetch('http://simulator/v1/messages', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { ...headers, ...more },
    })
    const parsed: unknown = await response.json()
    const answer = isObject(parsed) ? parsed : {}
    if (response.status === 200) return { answer }
    return { refusal: refusalIn(isObject(answer.error) ? String(answer.error.message) : '') }
  }

  private outcome(): Outcome {
    const { requests, cost, read, write5m, write1h, input, output } = this.simulator.meter.totals()
    const { entries } = this.simulator.log
    const refused = entries.filter(({ status }) => status !== 200).map(({ outcome }) => refusalIn(outcome))
    const times = (why: Refusal) => refused.filter((other) => other === why).length
    return {
      strategy: this.strategy.name,
      price: cost,
      requests,
      read,
      written: write5m + write1h,
      plain: input,
      output,
      failed: { overflow: times('overflow'), signature: times('signature'), invalid: times('invalid') },
      compactions: this.notes.compaction,
      clearings: this.notes.clearing,
      peak: Math.max(...entries.flatMap(({ samplings }) => samplings.map(promptOf))),
      mean: Math.round((read + write5m + write1h + input) / requests),
      ...this.tasks,
      answered: this.questions.done,
      questions: this.questions.done + this.questions.spoilt,
      answers: this.answers,
      rereads: this.rereads,
    }
  }
}

function promptOf({ input, read, write5m, write1h }: Sampling): number {
  return input + read + write5m + write1h
}

function refusalIn(message: string): Refusal {
  if (/prompt is too long|exceed context limit/.test(message)) return 'overflow'
  return /signature/.test(message) ? 'signature' : 'invalid'
}
