import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Block } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import { checkRequest } from './check-request.ts'
import { type RepairOptions, repairRequest } from './repair.ts'
import { createRepairer } from './repairer.ts'

const text = (value: string): Block => ({ type: 'text', text: value })
const use = (id: string, input: unknown = {}): Block => ({ type: 'tool_use', id, name: 'Read', input })
const result = (id: string, content: Block['content'] = 'found'): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})
const thinking = (signature = 'c2ln'): Block => ({ type: 'thinking', thinking: 'hm', signature })
const serverUse = (id: string): Block => ({ type: 'server_tool_use', id, name: 'web_search', input: {} })
const serverResult = (id: string): Block => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] })
const u = (...content: Block[]): Message => ({ role: 'user', content })
const a = (...content: Block[]): Message => ({ role: 'assistant', content })

/** A person's question, so many calls with their results, an answer. */
function turn(nth: number, calls: number): readonly Message[] {
  const rounds = Array.from({ length: calls }, (_, call) => {
    const id = `t${nth}-${call}`
    return [a(thinking(), use(id)), u(result(id))]
  })
  return [u(text(`question ${nth}`)), ...rounds.flat(), a(thinking(), text(`answer ${nth}`))]
}

describe('a repairer', () => {
  test('hands valid requests back, the very same arrays, while the conversation grows', () => {
    const repair = createRepairer()
    let messages: readonly Message[] = []
    for (let nth = 0; nth < 40; nth++) {
      messages = [...messages, ...turn(nth, nth % 5)]
      const repaired = repair(messages)
      expect(repaired.repairs).toEqual([])
      expect(repaired.messages).toBe(messages)
    }
  })

  test('does not look again at what it has repaired and that is still there', () => {
    const repair = createRepairer()
    const looks = new Map<Message, number>()
    const watched = (message: Message): Message => {
      const seen: Message = {
        role: message.role,
        get content() {
          looks.set(seen, (looks.get(seen) ?? 0) + 1)
          return message.content
        },
      }
      return seen
    }
    const before = Array.from({ length: 60 }, (_, nth) => turn(nth, 3))
      .flat()
      .map(watched)
    repair(before)
    const known = new Map(looks)
    repair([...before, ...turn(60, 1).map(watched)])
    const again = before.filter((message) => looks.get(message) !== known.get(message))
    expect(again.length).toBeLessThan(24)
    expect(again).toEqual(before.slice(-again.length))
  })

  test('keeps apart what it handed out before from what comes next', () => {
    const repair = createRepairer()
    const messages = [u(text('go')), a(use('t1')), u(text('stop')), ...turn(1, 9), ...turn(2, 9)]
    const first = repair(messages)
    const kept = JSON.stringify(first)
    repair([...messages, ...turn(3, 9), u(text(''))])
    repair(messages.slice(3))
    expect(JSON.stringify(first)).toBe(kept)
  })

  test('finds a call that came long ago when its result comes at last', () => {
    const repair = createRepairer()
    const messages = [u(text('go')), a(use('t1')), ...Array.from({ length: 9 }, (_, nth) => turn(nth, 2)).flat()]
    expect(repair(messages)).toEqual(repairRequest(messages))
    const late = [...messages, u(result('t1'), text('there it is'))]
    expect(repair(late).repairs).toContainEqual({ type: 'result-moved', message: 2, id: 't1' })
    expect(repair(late)).toEqual(repairRequest(late))
    expect(repair(messages)).toEqual(repairRequest(messages))
  })

  test('leaves a server’s call on which the turn is paused, and takes it away when it goes on', () => {
    const repair = createRepairer()
    const before = Array.from({ length: 9 }, (_, nth) => turn(nth, 2)).flat()
    const whole = [a(text('looking'), serverUse('s1'))]
    const inPieces = [a(serverUse('s1')), a(text('looking'))]
    for (const answer of [whole, inPieces]) {
      const paused = [...before, u(text('look')), ...answer]
      const gone = [...paused, u(text('wait')), ...turn(9, 9), ...turn(10, 9)]
      const blank = [u(text(' ')), a(text('')), u(text(' '))]
      for (const request of [paused, gone, paused, gone, [...paused, u(text(' '))], [...paused, ...blank]]) {
        expect(repair(request)).toEqual(repairRequest(request))
      }
    }
  })
})

const ids = fc.constantFrom('t0-0', 't3-1', 'x1', 'x2', 'x3', 'h\ud800', 'h\ud801')
const oddBlock: fc.Arbitrary<Block> = fc.oneof(
  fc.constantFrom('', ' ', 'a', 'half \udc00').map(text),
  ids.map((id) => use(id)),
  ids.map((id) => use(id, { other: true })),
  ids.map((id) => result(id)),
  ids.map((id) => result(id, [text(''), text('some')])),
  fc.constantFrom('', 'c2ln').map(thinking),
  ids.map(serverUse),
  ids.map(serverResult),
  fc.constantFrom<Block>(
    { type: 'text' },
    { type: 'tool_use', name: 'Read' },
    { type: 'tool_result', content: 'lost' },
  ),
)
const oddMessage: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const),
  content: fc.oneof(fc.constantFrom('', 'hello'), fc.array(oddBlock, { maxLength: 3 })),
})
/** What happens between two requests. */
type Happening =
  | { readonly type: 'turn'; readonly calls: number }
  | { readonly type: 'odd'; readonly messages: readonly Message[] }
  | { readonly type: 'cut'; readonly by: number }
  | { readonly type: 'edit'; readonly at: number; readonly message: Message | undefined }
  | { readonly type: 'compaction'; readonly keep: number }
  | { readonly type: 'change'; readonly options: RepairOptions }
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('turn' as const), calls: fc.nat(12) }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('odd' as const), messages: fc.array(oddMessage, { maxLength: 4 }) }),
  },
  fc.record({ type: fc.constant('cut' as const), by: fc.nat(20) }),
  fc.record({
    type: fc.constant('edit' as const),
    at: fc.nat(),
    message: fc.option(oddMessage, { nil: undefined }),
  }),
  fc.record({ type: fc.constant('compaction' as const), keep: fc.nat(30) }),
  fc.record({
    type: fc.constant('change' as const),
    options: fc.record({
      thinking: fc.constantFrom('strip-unsigned' as const, 'strip-changed' as const, 'strip-all' as const),
      changed: fc.array(fc.nat(60)).map((indices) => new Set(indices)),
    }),
  }),
)

function after(messages: readonly Message[], nth: number, it: Happening): readonly Message[] {
  switch (it.type) {
    case 'turn':
      return [...messages, ...turn(nth, it.calls)]
    case 'odd':
      return [...messages, ...it.messages]
    case 'cut':
      return messages.slice(0, Math.max(0, messages.length - it.by))
    case 'edit':
      return messages.length === 0
        ? messages
        : messages.toSpliced(it.at % messages.length, 1, ...(it.message ? [it.message] : []))
    case 'compaction':
      return [u(text(`summary ${nth}`)), ...messages.slice(Math.max(0, messages.length - it.keep))]
    case 'change':
      return messages
  }
}

describe('however a conversation goes on', () => {
  test('the repair is the one from scratch, and nothing more the second time', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 25 }), (happenings) => {
        const repair = createRepairer()
        const again = createRepairer()
        const history: (readonly [readonly Message[], RepairOptions])[] = []
        let messages: readonly Message[] = []
        let options: RepairOptions = {}
        for (const [nth, it] of happenings.entries()) {
          messages = after(messages, nth, it)
          if (it.type === 'change') options = it.options
          history.push([messages, options])
          const repaired = repair(messages, options)
          expect(repaired).toEqual(repairRequest(messages, options))
          if (repaired.messages.length > 0) expect(checkRequest(repaired.messages)).toEqual([])
          if (repaired.repairs.length === 0) expect(repaired.messages).toBe(messages)
          const { changed: _, ...same } = options
          expect(again(repaired.messages, same)).toEqual({ messages: repaired.messages, repairs: [] })
        }
        for (const [then, with_] of history.toReversed())
          expect(repair(then, with_)).toEqual(repairRequest(then, with_))
      }),
      { numRuns: 400 },
    )
  })
})
