// Drives one session: the simulator's agent at work with its tools, people and their pauses, and one keeper of the context.
// It counts what everything cost. Nothing here knows how a context is managed.
import {
  asksForSummary,
  createSimulator,
  type RepositoryTools,
  type RouteRule,
  route,
  type Simulator,
  summariser,
  toolsOf,
  turnableClock,
} from '@everlong/simulator'
import { type Block, isObject, isToolUse, type JsonObject, type Message } from 'everlong'
import { type Random, randomFrom } from '../random.ts'
import { answering, gapBefore } from './gaps.ts'
import { workOf } from './kinds.ts'
import { marked, markOf } from './marks.ts'
import { mostOutput, type Setup } from './setup.ts'
import type { Asked, Keeper, Outgoing, Port, Refusal, Strategy } from './strategy.ts'
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
  /** What the agent got done: tasks it ended, bugs it mended. */
  readonly tasks: number
  readonly mended: number
  /** Answers it got to: fewer than were asked for when the session could not go on. */
  readonly answers: number
}

/** Summaries are asked for in many words; whoever offers no tools wants text. */
const isSummary: RouteRule['when'] = (request) => request.tools.length === 0 || asksForSummary(request)
/** Short enough for any cache. */
const shortPause = 60_000
/** Agents cut long results at the source; so many characters are common. */
const longestResult = 30_000
/** A session that is refused so often in a row is over. */
const mostRefusals = 4
const headers = { 'content-type': 'application/json', 'x-api-key': 'bench', 'anthropic-version': '2026-10-21' }

export async function runSession(setup: Setup, strategy: Strategy): Promise<Outcome> {
  return new Session(setup, strategy).run()
}

class Session {
  private readonly clock = turnableClock()
  private readonly random: Random
  private readonly simulator: Simulator
  private readonly tools: RepositoryTools
  private readonly mended: () => number
  private readonly keeper: Keeper
  private readonly failed: Record<Refusal, number> = { overflow: 0, signature: 0, invalid: 0 }
  private readonly notes = { compaction: 0, clearing: 0 }
  private peak = 0
  private tasks = 0
  private answers = 0
  private readonly setup: Setup
  private readonly strategy: Strategy

  constructor(setup: Setup, strategy: Strategy) {
    this.setup = setup
    this.strategy = strategy
    const { repository, script } = workOf(setup.kind, setup.seed)
    this.random = randomFrom(setup.seed)
    this.tools = toolsOf(repository)
    this.mended = () => repository.bugs.filter(({ path, wrong }) => !this.tools.files.get(path)?.includes(wrong)).length
    this.simulator = createSimulator({
      clock: this.clock,
      seed: setup.seed,
      windows: { [setup.model]: setup.window },
      script: route([{ when: isSummary, script: summariser({ seed: setup.seed }) }], script),
      summariser: summariser({ lastTextAsks: true, seed: setup.seed }),
    })
    this.keeper = strategy.open(this.port())
  }

  async run(): Promise<Outcome> {
    this.keeper.told(this.human())
    while (this.answers < this.setup.answers) {
      const answer = await this.answer()
      if (!answer) break
      this.answers++
      this.keeper.answered(answer)
      const uses = blocksIn(answer).filter(isToolUse)
      if (uses.length === 0) this.tasks++
      const gap = gapBefore(uses.length === 0 ? 'human' : 'tools', this.random)
      this.clock.turn(this.setup.pauses === 'none' ? Math.min(gap, shortPause) : gap)
      this.keeper.told(
        uses.length === 0 ? this.human() : { role: 'user', content: uses.map((use) => this.resultOf(use)) },
      )
    }
    return this.outcome()
  }

  private human(): Message {
    const text = `Task ${this.tasks + 1}: run the tests, find the first thing that fails, mend it and look for more of its kind.`
    return { role: 'user', content: [{ type: 'text', text }] }
  }

  private resultOf({
    id,
    name,
    input,
  }: {
    readonly id: string
    readonly name: string
    readonly input: unknown
  }): Block {
    const { content: whole, isError } = this.tools.run(name, input)
    const content = whole.length <= longestResult ? whole : `${whole.slice(0, longestResult)}\n[cut off]`
    return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) } as Block
  }

  /** The next answer, after as many refusals as the keeper can mend; undefined when it cannot. */
  private async answer(): Promise<JsonObject | undefined> {
    for (let refusals = 0; refusals < mostRefusals; refusals++) {
      const outgoing = await this.keeper.next()
      const told = await this.post(this.bodyOf(outgoing), outgoing.headers)
      if ('answer' in told) return told.answer
      await this.keeper.refused(told.refusal)
    }
    return undefined
  }

  private bodyOf({ messages, anchor, fields }: Outgoing): JsonObject {
    const { lifetime } = this.setup
    return { ...this.head(mostOutput), ...fields, messages: marked(messages, { lifetime, anchor }) }
  }

  private head(maxTokens: number): JsonObject {
    const { model, lifetime } = this.setup
    return {
      model,
      max_tokens: maxTokens,
      system: [{ type: 'text', text: systemPrompt, cache_control: markOf(lifetime) }],
      tools: this.tools.definitions,
    }
  }

  private port(): Port {
    return {
      setup: this.setup,
      now: () => this.clock.now(),
      note: (what) => {
        this.notes[what]++
      },
      ask: (asked) => this.ask(asked),
    }
  }

  private async ask({ messages, alone, maxTokens }: Asked): Promise<JsonObject | undefined> {
    const { model, lifetime } = this.setup
    // What is behind the last mark will not be sent again, so writing it to the cache would be money lost.
    const body = alone
      ? { model, max_tokens: maxTokens, messages }
      : { ...this.head(maxTokens), messages: marked(messages, { lifetime, skipLast: true }) }
    const told = await this.post(body, undefined)
    return 'answer' in told ? told.answer : undefined
  }

  private async post(
    body: JsonObject,
    more: Outgoing['headers'],
  ): Promise<{ readonly answer: JsonObject } | { readonly refusal: Refusal }> {
    this.clock.turn(answering)
    const response = await this.simulator.fetch('http://simulator/v1/messages', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { ...headers, ...more },
    })
    const parsed: unknown = await response.json()
    const answer = isObject(parsed) ? parsed : {}
    if (response.status !== 200) return { refusal: this.refused(answer) }
    this.peak = Math.max(this.peak, contextOf(answer))
    return { answer }
  }

  private refused(answer: JsonObject): Refusal {
    const message = isObject(answer.error) ? String(answer.error.message) : ''
    const why: Refusal = /prompt is too long|exceed context limit/.test(message)
      ? 'overflow'
      : /signature/.test(message)
        ? 'signature'
        : 'invalid'
    this.failed[why]++
    return why
  }

  private outcome(): Outcome {
    const { requests, cost, read, write5m, write1h, input, output } = this.simulator.meter.totals()
    return {
      strategy: this.strategy.name,
      price: cost,
      requests,
      read,
      written: write5m + write1h,
      plain: input,
      output,
      failed: { ...this.failed },
      compactions: this.notes.compaction,
      clearings: this.notes.clearing,
      peak: this.peak,
      tasks: this.tasks,
      mended: this.mended(),
      answers: this.answers,
    }
  }
}

function blocksIn(answer: JsonObject): readonly Block[] {
  return Array.isArray(answer.content) ? (answer.content as readonly Block[]) : []
}

function contextOf({ usage }: JsonObject): number {
  if (!isObject(usage)) return 0
  const tokens = (name: string) => (typeof usage[name] === 'number' ? usage[name] : 0)
  return tokens('input_tokens') + tokens('cache_creation_input_tokens') + tokens('cache_read_input_tokens')
}
