import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Message, textOf } from '../message/message.ts'
import { checkRequest } from '../request/check-request.ts'
import type { EngineSettings } from '../settings/table.ts'
import { countTokens } from '../tokens/estimate/counting.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type World } from './testing/world.ts'
import { fewAnswers } from './tracking.ts'

/** The next event, its size, and the time since the previous one. */
const anyStep = fc.record({
  kind: fc.constantFrom('human', 'answer', 'tools', 'tools', 'tools', 'snip', 'undo', 'compact', 'from', 'up-to'),
  tokens: fc.constantFrom(20, 400, 1_500, 6_000, 40_000),
  milliseconds: fc.constantFrom(1, 1_000, 400_000, 4_000_000),
  at: fc.nat(50),
})
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

const anySession = fc.record({
  steps: fc.array(anyStep, { minLength: 4, maxLength: 22 }),
  /** Ratio of the provider's count to our estimate. */
  factor: fc.constantFrom(0.7, 1, 1.4),
  /** Tokens that only the provider counts. */
  hidden: fc.constantFrom(0, 2_000),
  collapse: fc.constantFrom(false, false, true),
  /** Whether long work is done in slices. */
  isPaced: fc.boolean(),
  micro: fc.constantFrom<false | 'above-warning' | 'always'>(false, 'above-warning', 'always'),
})
type Given = typeof anySession extends fc.Arbitrary<infer T> ? T : never

/** Effective 38,000, threshold 25,000, target 15,000, blocking 35,000. */
const small: EngineSettings = { contextWindow: 40_000, maxOutputTokens: 2_000 }
const text = (tokens: number, name: string) => `${name} ${'lorem ipsum dolor '.repeat(Math.ceil(tokens / 5))}`

class Life {
  readonly world: World
  private readonly given: Given
  private count = 0
  /** Results that no answer has seen. Each is identified by a word in it. */
  private unseen: readonly string[] = []
  /** Automatic compactions in a row with only a few answers between them. */
  private rapid = 0
  private answers = Number.POSITIVE_INFINITY
  mostRapid = 0
  reductions = 0

  constructor(given: Given) {
    this.given = given
    const settings: EngineSettings = {
      ...small,
      collapse: given.collapse,
      reductions: { microCompact: given.micro },
    }
    const compaction = [summarizing({ offline: 'always' })]
    const pause = given.isPaced ? () => new Promise<void>((resolve) => setImmediate(resolve)) : undefined
    this.world = createTestWorld({ settings, compaction, model: scripted(() => 'It was done.'), pause })
    this.world.session.on((event) => {
      if (event.type === 'micro-compacted') this.smaller(event)
      if (event.type !== 'compaction-finished') return
      this.smaller(event)
      this.rapid = event.trigger === 'auto' && this.answers <= fewAnswers ? this.rapid + 1 : 0
      this.mostRapid = Math.max(this.mostRapid, this.rapid)
      this.answers = 0
    })
  }

  async live(step: Step): Promise<void> {
    const { session } = this.world
    this.world.turn(step.milliseconds)
    switch (step.kind) {
      case 'human':
        session.add({ role: 'user', content: text(step.tokens, 'Please') })
        this.answers = Number.POSITIVE_INFINITY
        return this.send(false, step)
      case 'answer':
        session.add({ role: 'user', content: 'Go on.', origin: 'meta' })
        return this.send(false, step)
      case 'tools':
        session.add({ role: 'user', content: 'Go on.', origin: 'meta' })
        await this.send(true, step)
        return this.send(false, { ...step, tokens: 20 })
      case 'undo':
        await session.undo()
        return
      default:
        return this.byHand(step)
    }
  }

  /** A request, its answer, and the results of the answer's calls. */
  private async send(calls: boolean, { tokens }: Step): Promise<void> {
    const { session } = this.world
    const prepared = await session.prepare()
    if (prepared.type === 'blocked') return
    expect(checkRequest(prepared.messages)).toEqual([])
    this.holdsUnseen(prepared.messages)
    this.unseen = []
    this.answers++
    const id = `t${++this.count}`
    const call = { type: 'tool_use', id, name: this.count % 2 === 0 ? 'Read' : 'Fetch', input: { file_path: `/${id}` } }
    const said = calls ? [call] : [{ type: 'text', text: text(tokens, 'Done.') }]
    session.record(answerOf(said, { id: `msg_${this.count}`, usage: this.usage(prepared.messages, said) }))
    if (!calls) return
    const content = text(tokens, `RESULT-${id}.`)
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] })
    this.unseen = [`RESULT-${id}.`]
  }

  private async byHand({ kind, at }: Step): Promise<void> {
    const { session } = this.world
    const messages = session.messages()
    const uuid = messages[at % Math.max(1, messages.length)]?.uuid ?? ''
    const before = session.explain().size
    if (kind === 'snip') await session.snip({ from: uuid, to: uuid })
    else await session.compact(kind === 'from' ? { from: uuid } : kind === 'up-to' ? { upTo: uuid } : {})
    const after = session.explain().size
    expect(after.tokens).toBeLessThanOrEqual(before.tokens)
    if (kind === 'compact') this.holdsUnseen(session.messages())
    const isAnswered = session.messages().some(({ usage }) => usage !== undefined)
    if (kind === 'snip' && before.source !== 'estimate' && isAnswered) expect(after.source).not.toBe('estimate')
  }

  private usage(messages: readonly Message[], said: Message['content']) {
    const counted = (of: readonly Message[]) =>
      Math.round(countTokens(of, { model: 'claude-opus-4-5' }) * this.given.factor)
    const input = counted(messages) + this.given.hidden
    return {
      input,
      output: counted([{ role: 'assistant', content: said }]),
      cacheRead: 0,
      cacheWrite: 0,
      cacheWriteHour: 0,
    }
  }

  private holdsUnseen(messages: readonly Message[]): void {
    const all = messages.map(({ content }) => textOf(content)).join('\n')
    for (const word of this.unseen) expect(all).toContain(word)
  }

  private smaller(event: { readonly tokensBefore: number; readonly tokensAfter: number }): void {
    this.reductions++
    expect(event.tokensAfter).toBeLessThanOrEqual(event.tokensBefore)
  }
}

test('no reduction raises the size or takes what no answer has seen, and no chain of compactions is endless', {
  timeout: 90_000,
}, async () => {
  let reductions = 0
  await fc.assert(
    fc.asyncProperty(anySession, async (given) => {
      const life = new Life(given)
      await life.live({ kind: 'human', tokens: 20, milliseconds: 1, at: 0 })
      for (const step of given.steps) await life.live(step)
      expect(life.mostRapid).toBeLessThanOrEqual(3)
      reductions += life.reductions
    }),
    { numRuns: 60 },
  )
  expect(reductions).toBeGreaterThan(60)
})
