// Host code that misbehaves, at every place where the engine calls it: each call still ends, the conversation stays complete, an
// event names the cause, and committed work is reported as committed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningMechanism } from './core/mechanisms/mechanism.ts'
import { noTokens } from './core/message/usage.ts'
import type { EngineEvent } from './core/ports/events.ts'
import { type HookCall, noOutcome } from './core/ports/hooks.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { Session } from './core/session/session-api.ts'
import { systemPorts } from './models/ports.ts'
import { createEngine, type EngineOptions, type SessionOptions } from './node-engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-host-code-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const unhandled: unknown[] = []
const note = (reason: unknown) => unhandled.push(reason)
beforeAll(() => {
  process.on('unhandledRejection', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
})

/** Four faults, as a function that can replace any callback. */
const faults = {
  throws: () => {
    throw new Error('host broke')
  },
  rejects: async () => {
    throw new Error('host broke')
  },
  hangs: () => new Promise(() => undefined),
  'returns garbage': () => 5,
} as const
type Fault = keyof typeof faults

/** A wait of a minute ends at once. */
const ports: NonNullable<EngineOptions['ports']> = {
  wait: (milliseconds, signal) => systemPorts.wait(milliseconds / 2_000, signal),
}

const summary = '<summary>\n## 1. Primary request and intent\nThe parser is mended, file by file.\n</summary>'

const steady: ModelClient = {
  provider: 'steady',
  model: 'claude-opus-4-5',
  capabilities: () => ({
    cacheEdits: false,
    contextManagement: false,
    compaction: 'none',
    promptCache: true,
    offline: false,
  }),
  send: async ({ source }) => ({
    type: 'answer',
    id: `msg_${crypto.randomUUID()}`,
    model: 'claude-opus-4-5',
    content: [{ type: 'text', text: source === 'compact' ? summary : 'Done.' }],
    stopReason: 'end_turn',
    usage: noTokens,
  }),
}

type Host = { readonly engine?: Partial<EngineOptions>; readonly session?: SessionOptions }

/** Forbidden for a host in TypeScript, but possible in JavaScript. */
const any = (fault: () => unknown) => fault as never

const hosts: Readonly<Record<string, (fault: () => unknown) => Host>> = {
  hooks: (fault) => ({ engine: { hooks: { run: any(fault) } } }),
  'hook function': (fault) => ({
    engine: {
      hookSettings: { timeoutMs: 30, functions: { PreCompact: [any(fault)], SessionStart: [any(fault)] } },
    },
  }),
  'hook after the compaction': (fault) => ({
    engine: {
      hooks: { run: async (call: HookCall) => (call.event === 'PostCompact' ? (fault() as never) : noOutcome) },
    },
  }),
  state: (fault) => ({ session: { state: any(fault) } }),
  files: (fault) => ({ engine: { files: { read: any(fault) } } }),
  redact: (fault) => ({ engine: { redact: any(fault) } }),
  ask: (fault) => ({ engine: { ask: any(fault), settings: { compaction: 'ask' } } }),
  mechanism: (fault) => ({ engine: { mechanisms: { compact: [{ name: 'mine', run: any(fault) }] } } }),
  'model client': (fault) => ({ engine: { model: { ...steady, send: any(fault) } } }),
  capabilities: (fault) => ({ engine: { model: { ...steady, capabilities: any(fault) } } }),
  restore: (fault) => ({ engine: { restore: any(fault) } }),
  workspace: (fault) => ({ engine: { workspace: { state: any(fault) }, mechanisms: { compact: [asking] } } }),
}

const asking: RunningMechanism = {
  name: 'asking',
  run: async ({ ports }) => ({
    type: 'declined',
    reason: 'not-now',
    why: JSON.stringify(await ports.workspace?.state()),
  }),
}

function fill(session: Session): void {
  session.add({ role: 'user', content: 'Mend the parser.' })
  for (let at = 0; at < 30; at++) {
    const read = at === 29
    const use = read
      ? { type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: '/p/a.ts' } }
      : { type: 'tool_use', id: `t${at}`, name: 'mcp__a__b', input: { at } }
    session.record({ content: [use] })
    const content = read ? '1\tconst a = 1' : `plain words of result ${at} `.repeat(200)
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content }] })
  }
  // A result that no answer has seen would stay in the context.
  session.record({ content: [{ type: 'text', text: 'I have seen it.' }] })
  session.add({ role: 'user', content: 'And the lexer.' })
}

async function opened({ engine = {}, session: options = {} }: Host, name: string) {
  const events: EngineEvent[] = []
  const made = createEngine({
    model: steady,
    environment: {},
    ports,
    // Otherwise every compaction runs git.
    workspace: { state: async () => ({ type: 'unknown', why: 'a test' }) },
    onEvent: (event) => events.push(event),
    ...engine,
    settings: { contextWindow: 40_000, maxOutputTokens: 8_000, sessionMemory: false, ...engine.settings },
  })
  const path = join(folder, `${name}.jsonl`.replaceAll(' ', '-'))
  const session = await made.start({ path, ...options })
  fill(session)
  return { session, events, path }
}

const problemsIn = (events: readonly EngineEvent[]) =>
  events.flatMap((event) =>
    event.type === 'host-code-failed' || event.type === 'hook-reported' ? [event.problem] : [],
  )

const committed = (session: Session) => session.messages()[0]?.origin === 'summary'

const cases = Object.keys(hosts).flatMap((host) =>
  Object.keys(faults)
    // A mechanism may take as long as it likes, because it gets the signal that stops a compaction.
    .filter((fault) => host !== 'mechanism' || fault !== 'hangs')
    .flatMap((fault) => (['prepare', 'compact', 'send'] as const).map((call) => [host, fault, call])),
) as (readonly [string, Fault, 'prepare' | 'compact' | 'send'])[]

describe.each(cases)('%s that %s, during %s()', (host, fault, call) => {
  test('the call ends, the conversation is whole, and an event names the culprit', async () => {
    const { session, events, path } = await opened(hosts[host]?.(faults[fault]) ?? {}, `${host}-${fault}-${call}`)
    const result = await session[call]()
    const isCommitted = committed(session)
    if (call === 'compact') expect(result.type).toBe(isCommitted ? 'compacted' : 'failed')
    if ('compaction' in result) expect(isCommitted).toBe(true)
    const ends = events.flatMap(({ type }) => (/compaction-f/.test(type) ? [type] : []))
    if (isCommitted) expect(ends).toEqual(['compaction-finished'])
    else expect(ends).not.toContain('compaction-finished')
    // A manual compaction asks nobody.
    if (host !== 'ask' || call !== 'compact') expect(problemsIn(events)).not.toEqual([])
    expect(events.every(({ sessionId }) => sessionId === session.id)).toBe(true)

    const before = session.messages()
    await session.close()
    const again = await createEngine({ model: steady, environment: {} }).open(path)
    expect(again.messages()).toEqual(before)
    await again.close()
    expect(unhandled).toEqual([])
  })
})

describe.each(['throws', 'rejects', 'hangs', 'returns garbage'] as const)('a callback that %s', (fault) => {
  test('a listener stops nobody, and the others hear of it', async () => {
    const { session } = await opened({ engine: { onEvent: any(faults[fault]) } }, `listener-${fault}`)
    const events: EngineEvent[] = []
    session.on((event) => events.push(event))
    session.add({ role: 'user', content: 'And now?' })
    expect((await session.send()).type).toBe('answered')
    expect(committed(session)).toBe(true)
    const told = events.flatMap((event) => (event.type === 'host-code-failed' ? [event] : []))
    const { sessionId } = told[0] ?? {}
    const isHarmless = fault === 'hangs' || fault === 'returns garbage'
    expect(told.slice(0, 1)).toEqual(
      isHarmless
        ? []
        : [{ type: 'host-code-failed', code: 'listener', problem: 'at mechanism-tried: host broke', sessionId }],
    )
    await session.close()
    expect(unhandled).toEqual([])
  })

  test('a clean-up keeps no other from running, and the compaction counts', async () => {
    const { session, events } = await opened({}, `clean-up-${fault}`)
    let cleared = 0
    session.cleanUp({ name: 'mine', scope: 'conversation', clear: any(faults[fault]) })
    session.cleanUp({
      name: 'yours',
      scope: 'all',
      clear: () => {
        cleared++
      },
    })
    expect((await session.compact()).type).toBe('compacted')
    await session.close()
    expect(cleared).toBe(1)
    const isHarmless = fault === 'hangs' || fault === 'returns garbage'
    expect(problemsIn(events)).toEqual(isHarmless ? [] : ['mine: host broke'])
    expect(unhandled).toEqual([])
  })
})

test('an answer whose usage is no usage is counted as nothing, and reported', async () => {
  const usage = { ...noTokens, input: Number.NaN, output: -5, cacheRead: 7 }
  const model: ModelClient = {
    ...steady,
    send: async (request, options) => {
      const answer = await steady.send(request, options)
      return answer.type === 'answer' ? { ...answer, usage } : answer
    },
  }
  const { session, events } = await opened({ engine: { model } }, 'usage')
  const turn = await session.send()
  expect(turn).toMatchObject({ type: 'answered', answer: { usage: { ...noTokens, cacheRead: 7 } } })
  expect(problemsIn(events)[0]).toBe('steady: the usage of an answer is wrong (input, output)')
  await session.close()
})

test('a callback of the turn that throws does not keep the request from being sent', async () => {
  const { session, events } = await opened({}, 'prepared')
  expect((await session.send({ onPrepared: faults.throws })).type).toBe('answered')
  expect(problemsIn(events)).toEqual(['at onPrepared: host broke'])
  await session.close()
})

test('a stream listener that throws does not end the answer', async () => {
  const model: ModelClient = {
    ...steady,
    send: async (request, options) => {
      options?.onEvent?.({ type: 'text', text: 'Do' })
      return steady.send(request, options)
    },
  }
  const { session, events } = await opened({ engine: { model } }, 'stream')
  expect((await session.send({ onEvent: faults.throws })).type).toBe('answered')
  expect(problemsIn(events)).toContain('at text: host broke')
  await session.close()
})

test('a client that hangs is given up at once when the turn is stopped', async () => {
  const session = await createEngine({ model: { ...steady, send: any(faults.hangs) }, environment: {}, ports }).start()
  session.add({ role: 'user', content: 'Mend the parser.' })
  const stop = new AbortController()
  const turn = session.send({ signal: stop.signal })
  setTimeout(() => stop.abort(), 20)
  expect(await turn).toMatchObject({ type: 'failed', failure: { reason: 'aborted' } })
  await session.close()
})

test('while a read hangs no other file is asked for', async () => {
  let reads = 0
  const read = () => {
    reads++
    return new Promise<never>(() => undefined)
  }
  const { session } = await opened({ engine: { files: { read } } }, 'reads')
  for (let at = 0; at < 20; at++) {
    session.record({ content: [{ type: 'tool_use', id: `r${at}`, name: 'Read', input: { file_path: `/p/${at}.ts` } }] })
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `r${at}`, content: '1\tx' }] })
  }
  expect((await session.compact()).type).toBe('compacted')
  expect(reads).toBe(1)
  await session.close()
})

describe.each(Object.keys(faults) as Fault[])('closing a session whose host code %s', (fault) => {
  test('its last hook keeps nobody, and the file is given back', async () => {
    const run = async ({ event }: HookCall) => (event === 'SessionEnd' ? (faults[fault]() as never) : noOutcome)
    const { session, events, path } = await opened({ engine: { hooks: { run } } }, `end-${fault}`)
    await session.close()
    expect(problemsIn(events)).toHaveLength(1)
    const again = await createEngine({ model: steady, environment: {} }).open(path)
    await again.close()
    expect(unhandled).toEqual([])
  })

  test('a model that is asked in the background keeps nobody', async () => {
    const asked: string[] = []
    const send: ModelClient['send'] = (request, options) => {
      asked.push(request.source)
      return request.source === 'turn' ? steady.send(request, options) : (faults[fault]() as never)
    }
    const settings = { collapse: true, sessionMemory: { minTokens: 500, growth: 100, toolCalls: 0 } } as const
    const { session } = await opened({ engine: { model: { ...steady, send }, settings } }, `background-${fault}`)
    session.record({ content: [{ type: 'text', text: 'Done.' }] })
    for (const at of [1, 2, 3]) {
      session.add({ role: 'user', content: `Task ${at}. ${'plain words here '.repeat(1_200)}` })
      session.record({ content: [{ type: 'text', text: 'Done.' }] })
    }
    // Answers recorded without a request are handled now.
    void session.idle()
    await expect.poll(() => new Set(asked)).toEqual(new Set(['session-memory', 'collapse']))
    await session.close()
    expect(unhandled).toEqual([])
  })
})

test('a compaction by hand does not wait for one in the background whose model hangs', async () => {
  let isHanging = true
  const send: ModelClient['send'] = (request, options) =>
    isHanging && request.source === 'compact' ? new Promise(() => undefined) : steady.send(request, options)
  const settings = { background: { from: 0.1 }, contextWindow: 200_000 }
  // Only an abort ends it.
  const patient: EngineOptions['ports'] = {
    wait: (milliseconds, signal) => systemPorts.wait(milliseconds < 60_000 ? 1 : milliseconds, signal),
  }
  const { session } = await opened({ engine: { model: { ...steady, send }, settings, ports: patient } }, 'ahead')
  expect((await session.prepare()).type).toBe('ready')
  isHanging = false
  expect((await session.compact()).type).toBe('compacted')
  await session.close()
})

test('a mechanism that fails because it was stopped counts as stopped', async () => {
  const stop = new AbortController()
  const mine: RunningMechanism = {
    name: 'mine',
    run: async () => {
      stop.abort()
      return { type: 'failed', reason: 'api-error', why: 'The connection was cut.', tried: [] }
    },
  }
  const session = await createEngine({ model: steady, mechanisms: { compact: [mine] } }).start()
  session.add({ role: 'user', content: 'Paint the gate.' })
  expect(await session.compact({ signal: stop.signal })).toMatchObject({ type: 'failed', reason: 'aborted' })
})
