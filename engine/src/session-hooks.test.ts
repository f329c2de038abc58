// When the hooks of a session run, and how their output is used.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { textOf } from './core/message/message.ts'
import type { EngineEvent } from './core/ports/events.ts'
import { type HookCall, type HookOutcome, noOutcome } from './core/ports/hooks.ts'
import type { Session } from './core/session/session-api.ts'
import { offline } from './models/offline.ts'
import { createEngine } from './node-engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-session-hooks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let calls: HookCall[] = []
let events: EngineEvent[] = []
beforeEach(() => {
  calls = []
  events = []
})

const engineWith = (answer: (call: HookCall) => Partial<HookOutcome> = () => ({})) =>
  createEngine({
    model: offline(),
    environment: {},
    onEvent: (event) => events.push(event),
    hooks: {
      run: async (call) => {
        calls.push(call)
        return { ...noOutcome, ...answer(call) }
      },
    },
  })

const names = () => calls.map((call) => (call.event === 'SessionStart' ? `${call.event}:${call.source}` : call.event))
const words = (session: Session) => session.messages().map(({ content }) => textOf(content))

function fill(session: Session): void {
  session.add({ role: 'user', content: 'Mend the parser.' })
  session.record({ content: [{ type: 'text', text: 'The comma in line 17 is wrong. '.repeat(500) }] })
  session.add({ role: 'user', content: 'Go on.' })
}

describe('when they run', () => {
  test('at the start, after a compaction, when it is opened again, and once at the end', async () => {
    const engine = engineWith()
    const path = join(folder, 'life.jsonl')
    const session = await engine.start({ path })
    fill(session)
    await session.compact()
    await session.close()
    await session.close()
    expect(names()).toEqual(['SessionStart:startup', 'PreCompact', 'SessionStart:compact', 'PostCompact', 'SessionEnd'])
    calls = []
    await (await engine.open(path)).close()
    expect(calls).toEqual([
      { event: 'SessionStart', source: 'resume' },
      { event: 'SessionEnd', details: { reason: 'other' } },
    ])
  })

  test('a sub-agent has its own, and its events carry its id', async () => {
    const session = await engineWith().start()
    const sub = await session.subagent()
    const details = { agent_id: sub.agentId }
    fill(sub)
    await sub.prepare()
    await sub.close()
    expect(calls.slice(1)).toEqual([
      { event: 'SubagentStart', details },
      { event: 'SubagentStop', details },
    ])
    expect(sub.agentId).toBeTypeOf('string')
    expect(new Set(events.map(({ agentId, sessionId }) => `${sessionId} ${agentId}`))).toEqual(
      new Set([`${session.id} ${sub.agentId}`]),
    )
    await session.close()
  })

  test('a host runs those that only it can see, and hears what they say', async () => {
    const session = await engineWith(({ event }) =>
      event === 'PermissionRequest' ? { messages: ['Ask Ada.'], problems: ['slow'] } : {},
    ).start()
    const call = { event: 'PermissionRequest', details: { tool_name: 'Bash' } } as const
    expect(await session.runHooks(call)).toEqual({ ...noOutcome, messages: ['Ask Ada.'], problems: ['slow'] })
    expect(calls.at(-1)).toEqual(call)
    const { id: sessionId } = session
    expect(events).toEqual([{ type: 'hook-reported', event: 'PermissionRequest', problem: 'slow', sessionId }])
    await session.close()
  })
})

describe('what they add for the model', () => {
  test('is in the conversation: from the start, and after a compaction', async () => {
    const engine = engineWith((call) => ({ context: [`said by ${call.event}`] }))
    const path = join(folder, 'context.jsonl')
    const session = await engine.start({ path })
    expect(words(session)).toEqual([expect.stringContaining('said by SessionStart')])
    fill(session)
    expect((await session.compact()).type).toBe('compacted')
    const after = words(session)
    expect(after.filter((text) => text.includes('said by PostCompact'))).toHaveLength(1)
    // In the summary's own attachments, where it is measured.
    expect(after.filter((text) => text.includes('said by SessionStart'))).toHaveLength(1)
    await session.close()
    const quiet = createEngine({ model: offline(), environment: {} })
    const again = await quiet.open(path)
    expect(words(again)).toEqual(after)
    await again.close()
  })

  test('a sub-agent’s is in the sub-agent’s conversation only', async () => {
    const session = await engineWith(({ event }) =>
      event === 'SubagentStart' ? { context: ['be brief'] } : {},
    ).start()
    const sub = await session.subagent()
    expect([words(session), words(sub)]).toEqual([[], [expect.stringContaining('be brief')]])
    await sub.close()
    await session.close()
  })
})

test('an abort does not wait for a hook', async () => {
  const session = await createEngine({
    model: offline(),
    environment: {},
    hooks: { run: async ({ event }) => (event === 'PreCompact' ? new Promise(() => undefined) : noOutcome) },
  }).start()
  fill(session)
  const before = session.messages()
  const stop = new AbortController()
  const running = session.compact({ signal: stop.signal })
  setTimeout(() => stop.abort(), 10)
  expect(await running).toMatchObject({ type: 'failed', reason: 'aborted' })
  expect(session.messages()).toEqual(before)
  await session.close()
})
