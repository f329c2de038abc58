// Plain options of createEngine: summaryPrompt, retain, redact, tokenizer. Each holds for the first compaction, for the next, and
// after the session was opened again; and one that breaks is reported and does not stop the session.
import { describe, expect, test } from 'vitest'
import { textOf } from './core/message/message.ts'
import { noTokens } from './core/message/usage.ts'
import type { EngineEvent } from './core/ports/events.ts'
import type { ModelClient, ModelRequest } from './core/ports/model.ts'
import type { Session } from './core/session/session-api.ts'
import { createEngine, type EngineOptions } from './engine.ts'
import { memorySessions } from './stores/memory.ts'

const summary =
  '<summary>\n1. Primary request and intent:\nThe gate is to be painted. The door code is 4711.\n</summary>'

/** Answers every request with the same summary, and records the prompts for summaries. */
function summarizing() {
  const prompts: string[] = []
  const client: ModelClient = {
    provider: 'test',
    model: 'claude-opus-4-5',
    capabilities: () => ({
      cacheEdits: false,
      contextManagement: false,
      compaction: 'none',
      promptCache: true,
      offline: false,
    }),
    send: async ({ messages, model }: ModelRequest) => {
      prompts.push(textOf(messages.at(-1)?.content))
      const content = [{ type: 'text', text: summary }]
      return { type: 'answer', id: crypto.randomUUID(), model, content, stopReason: 'end_turn', usage: noTokens }
    },
  }
  return { client, prompts }
}

const rule = 'Never paint the hinges of the gate.'
/** Longer than any quotation of an answer in a summary or the record. */
const decision = `DECISION: the colors.\n${Array.from({ length: 80 }, (_, at) => `Plank ${at} gets color ${at * 37}.`).join('\n')}`

function work(session: Session, round: number): void {
  session.add({ role: 'user', content: round === 1 ? rule : `Round ${round}.` })
  session.record({ content: round === 1 ? decision : `Nothing new in round ${round}.` })
  for (let at = 0; at < 12; at++) {
    session.add({ role: 'user', content: `Look at plank ${round}-${at}.` })
    session.record({ content: `Plank ${round}-${at} is fine. ${'The wood is dry and the paint holds. '.repeat(60)}` })
  }
}

/** Three compactions of one session: two in a row, and one after it was opened again. Returns the context after each. */
async function lives(options: Omit<EngineOptions, 'model'>) {
  const { client, prompts } = summarizing()
  const events: EngineEvent[] = []
  const store = memorySessions()
  const onEvent = (event: EngineEvent) => void events.push(event)
  const engine = createEngine({ model: client, environment: {}, store, onEvent, ...options })
  const contexts: string[] = []
  const compacted = async (session: Session, round: number) => {
    work(session, round)
    const { type } = await session.compact()
    expect(type).toBe('compacted')
    contexts.push(
      session
        .messages()
        .map(({ content }) => textOf(content))
        .join('\n'),
    )
  }
  const first = await engine.start({ id: 'one' })
  await compacted(first, 1)
  await compacted(first, 2)
  await first.close()
  const again = await engine.open('one')
  await compacted(again, 3)
  await again.close()
  const broken = events.flatMap((event) => (event.type === 'host-code-failed' ? [event.code] : []))
  return { contexts, prompts, broken }
}

describe('summaryPrompt', () => {
  test('as a text, is part of every request for a summary, and the checks still run', async () => {
    const { contexts, prompts } = await lives({ summaryPrompt: 'Name every ticket by its number.' })
    expect(prompts).toHaveLength(3)
    for (const prompt of prompts) {
      expect(prompt).toContain('Further instructions for this summary:\nName every ticket by its number.')
      expect(prompt).toContain('1. Primary request and intent:')
    }
    for (const context of contexts) expect(context).toContain(rule)
  })

  test('as a text, comes before the instructions of a person', async () => {
    const { client, prompts } = summarizing()
    const session = await createEngine({ model: client, environment: {}, summaryPrompt: 'Name every ticket.' }).start()
    work(session, 1)
    await session.compact({ instructions: 'Keep the colors.' })
    expect(prompts[0]).toContain('Name every ticket.\n\nKeep the colors.')
  })

  test('as a function, replaces the request, and the checks still run', async () => {
    const given: string[] = []
    const summaryPrompt = (prompt: string) => {
      given.push(prompt)
      return 'Summarize in nine sections, as a haiku each.'
    }
    const { contexts, prompts } = await lives({ summaryPrompt })
    expect(prompts).toEqual(Array.from({ length: 3 }, () => 'Summarize in nine sections, as a haiku each.'))
    expect(given[0]).toContain('1. Primary request and intent:')
    for (const context of contexts) expect(context).toContain(rule)
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['returns nothing', () => undefined],
    ['returns an empty text', () => ' '],
    ['returns a promise', async () => 'later'],
  ])('that %s is reported, and the usual request is sent', async (_, summaryPrompt) => {
    const { prompts, broken } = await lives({ summaryPrompt: summaryPrompt as never })
    expect(prompts).toHaveLength(3)
    for (const prompt of prompts) expect(prompt).toContain('1. Primary request and intent:')
    expect(new Set(broken)).toEqual(new Set(['summary-prompt']))
  })
})

describe('retain', () => {
  test('keeps what it names word for word, through every compaction', async () => {
    const isDecision = ({ content }: { readonly content: unknown }) => textOf(content).startsWith('DECISION')
    const { contexts } = await lives({ retain: isDecision })
    for (const context of contexts) expect(context).toContain(decision)
    // Without it, an answer of the agent is not kept.
    const bare = await lives({})
    expect(bare.contexts.at(-1)).not.toContain(decision)
  })

  test('is asked about every message once, and never about summaries', async () => {
    const asked: string[] = []
    const { client } = summarizing()
    const retain: EngineOptions['retain'] = ({ content, origin }) => {
      asked.push(`${origin}: ${textOf(content).slice(0, 20)}`)
      return false
    }
    const session = await createEngine({ model: client, environment: {}, retain }).start()
    work(session, 1)
    await session.prepare()
    await session.compact()
    await session.prepare()
    expect(asked).toHaveLength(26)
    expect(asked.filter((line) => line.startsWith('summary'))).toEqual([])
  })

  test('keeps a tool result from being cleared', async () => {
    const { client } = summarizing()
    const settings = {
      reductions: { microCompact: 'always', weigh: false, bySize: { keep: 1, target: 0, minFreed: 1 } },
    }
    const retain: EngineOptions['retain'] = ({ content }) => JSON.stringify(content).includes('log of day 1 ')
    const left = async (options: Partial<EngineOptions>) => {
      const session = await createEngine({
        model: client,
        environment: {},
        settings: settings as never,
        ...options,
      }).start()
      for (let day = 1; day <= 6; day++) {
        const id = `toolu_${day}`
        session.add({ role: 'user', content: `Read day ${day}.` })
        await session.prepare()
        session.record({ content: [{ type: 'tool_use', id, name: 'Read', input: { file_path: `/logs/${day}` } }] })
        const content = `log of day ${day} ${'nothing happened on this day. '.repeat(400)}`
        session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] })
        await session.prepare()
        session.record({ content: 'Read.' })
      }
      const all = JSON.stringify(session.messages())
      return [1, 2, 3].filter((day) => all.includes(`log of day ${day} nothing`))
    }
    expect(await left({})).toEqual([])
    expect(await left({ retain })).toEqual([1])
  })

  test('that throws is reported, and the session continues', async () => {
    const retain = () => {
      throw new Error('broken')
    }
    const { contexts, broken } = await lives({ retain })
    expect(contexts).toHaveLength(3)
    expect(new Set(broken)).toEqual(new Set(['retain']))
  })
})

test('redact replaces secrets in every summary', async () => {
  const { contexts } = await lives({ redact: (text) => text.replaceAll('4711', '[code]') })
  for (const context of contexts) {
    expect(context).toContain('The door code is [code].')
    expect(context).not.toContain('4711')
  }
})

describe('tokenizer', () => {
  const perWord = (text: string) => text.split(/\s+/).filter(Boolean).length

  test('counts every text in place of the estimator, also after a compaction and after opening again', async () => {
    const { client } = summarizing()
    const store = memorySessions()
    const engine = createEngine({ model: client, environment: {}, store, tokenizer: perWord })
    const sizeOf = (session: Session) => session.explain().size.tokens
    // The margin of every estimate.
    const expected = (session: Session) =>
      session.messages().reduce((sum, { content }) => sum + perWord(textOf(content)), 0) * (4 / 3)
    const session = await engine.start({ id: 'one' })
    work(session, 1)
    expect(sizeOf(session)).toBeCloseTo(expected(session), -1)
    await session.compact()
    expect(Math.abs(sizeOf(session) / expected(session) - 1)).toBeLessThan(0.1)
    await session.close()
    const again = await engine.open('one')
    work(again, 2)
    expect(Math.abs(sizeOf(again) / expected(again) - 1)).toBeLessThan(0.1)
    await again.close()
  })

  test('decides when a compaction is due', async () => {
    const { client } = summarizing()
    const isCompacted = async (tokenizer: EngineOptions['tokenizer']) => {
      const options = { model: client, environment: {}, settings: { contextWindow: 40_000 } }
      const session = await createEngine({ ...options, ...(tokenizer ? { tokenizer } : {}) }).start()
      for (const round of [1, 2]) work(session, round)
      session.add({ role: 'user', content: 'Go on.' })
      const { compaction } = await session.prepare()
      return compaction !== undefined
    }
    expect(await isCompacted(() => 1)).toBe(false)
    expect(await isCompacted((text) => text.length)).toBe(true)
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['returns NaN', () => Number.NaN],
    ['returns a negative number', () => -1],
  ])('that %s is reported once, and the estimator counts', async (_, tokenizer) => {
    const { contexts, broken } = await lives({ tokenizer })
    expect(contexts).toHaveLength(3)
    // One for each opening of the session.
    expect(broken).toEqual(['tokenizer', 'tokenizer'])
  })
})

test('on() listens to one type of event until it is ended, or to all', async () => {
  const { client } = summarizing()
  const session = await createEngine({ model: client, environment: {} }).start()
  const sizes: number[] = []
  const types: string[] = []
  const end = session.on('compaction-finished', ({ tokensAfter }) => sizes.push(tokensAfter))
  session.on(({ type }) => types.push(type))
  work(session, 1)
  await session.compact()
  end()
  work(session, 2)
  await session.compact()
  expect(sizes).toHaveLength(1)
  expect(types.filter((type) => type === 'compaction-finished')).toHaveLength(2)
  // @ts-expect-error An event that does not exist.
  session.on('compaction-over', () => undefined)
  // @ts-expect-error A field that the event does not have.
  session.on('compaction-finished', ({ nothing }) => nothing)
})
