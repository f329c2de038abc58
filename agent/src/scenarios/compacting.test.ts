// Compactions of a session on disk, stopped at every point, and with the shell hooks of a settings file.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from '@everlong/simulator'
import type { EngineEvent } from 'everlong'
import { textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fill } from '../testing/history.ts'
import { type Stage, type StageOptions, setStage } from '../testing/stage.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-compacting-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function onDisk(options: StageOptions = {}): Promise<{ stage: Stage; session: Session; path: string }> {
  const { settings, ...engine } = options.engine ?? {}
  const stage = await setStage({
    window: 200_000,
    script: () => text('Here you are.'),
    ...options,
    engine: { ...engine, settings: { sessionMemory: false, ...settings } },
  })
  const path = join(folder, 'session.jsonl')
  const session = await stage.engine.start({ path, maxTokens: 1_000 })
  fill(session, { rounds: 6, tokens: 3_000 })
  session.add({ role: 'user', content: 'Then the labels.' })
  await session.send()
  return { stage, session, path }
}

const phases = ['hooks-before', 'summarizing', 'verifying', 'restoring', 'committing'] as const

/** The events so far identify the moment. */
const moments: readonly (readonly [string, (event: EngineEvent) => boolean])[] = [
  ['at its start', ({ type }) => type === 'compaction-started'],
  ...phases.map(
    (phase) =>
      [
        `while ${phase}`,
        (event: EngineEvent) => event.type === 'compaction-progressed' && event.phase === phase,
      ] as const,
  ),
  ['in the middle of the answer', (event) => event.type === 'compaction-progressed' && (event.outputTokens ?? 0) > 0],
  ['after a way was tried', ({ type }) => type === 'mechanism-tried'],
]

describe('stopped', () => {
  test.each(moments)('%s, the file and the conversation are the same bytes, and it continues', async (_, isNow) => {
    const { session, path } = await onDisk()
    const before = { file: readFileSync(path), messages: JSON.stringify(session.messages()) }
    const controller = new AbortController()
    let wasThen = false
    session.on((event) => {
      if (!isNow(event)) return
      wasThen = true
      controller.abort()
    })
    const stopped = await session.compact({ signal: controller.signal })
    expect([wasThen, stopped]).toMatchObject([true, { type: 'failed', reason: 'aborted' }])
    expect(readFileSync(path).equals(before.file)).toBe(true)
    expect(JSON.stringify(session.messages())).toBe(before.messages)
    expect((await session.compact()).type).toBe('compacted')
    session.add({ role: 'user', content: 'Go on.' })
    expect((await session.send()).type).toBe('answered')
    await session.close()
  })
})

describe('shell hooks of a real compaction', () => {
  type Said = {
    readonly event: 'PreCompact' | 'SessionStart' | 'PostCompact'
    readonly script: string
    readonly timeout?: number
  }

  async function hooked(...said: readonly Said[]) {
    const hooks = said.map(({ event, script, timeout }, at) => {
      const file = join(folder, `hook-${at}.mjs`)
      writeFileSync(file, script)
      const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(file)}`
      return [event, { type: 'command' as const, command, ...(timeout === undefined ? {} : { timeout }) }] as const
    })
    const settings = Object.fromEntries(
      [...Map.groupBy(hooks, ([event]) => event)].map(([event, all]) => [
        event,
        [{ hooks: all.map(([, hook]) => hook) }],
      ]),
    )
    return onDisk({ engine: { hookSettings: { settings } } })
  }
  const asked = ({ sent }: Stage) =>
    sent
      .filter(({ request }) => request.source === 'compact')
      .map(({ request }) => textOf(request.messages.at(-1)?.content))

  test('instructions are added after those of the person', async () => {
    const { stage, session } = await hooked({ event: 'PreCompact', script: "console.log('name the ticket')" })
    expect((await session.compact({ instructions: 'keep the schema' })).type).toBe('compacted')
    expect(asked(stage)[0]).toContain('keep the schema\n\nname the ticket')
    await session.close()
  })

  test('a veto by exit code or by decision leaves everything as it was', async () => {
    for (const script of [
      "console.error('not now'); process.exit(2)",
      `console.log('{"decision":"block","reason":"not now"}')`,
    ]) {
      const { stage, session, path } = await hooked({ event: 'PreCompact', script })
      const before = readFileSync(path)
      expect(await session.compact()).toMatchObject({ type: 'failed', reason: 'vetoed', why: 'not now' })
      expect([asked(stage), readFileSync(path).equals(before)]).toEqual([[], true])
      await session.close()
      rmSync(path)
    }
  })

  test('the summary is replaced, and nobody is asked for one', async () => {
    const script = `console.log(JSON.stringify({ hookSpecificOutput: { summary: 'The parcels are sorted.' } }))`
    const { stage, session } = await hooked({ event: 'PreCompact', script })
    expect(await session.compact()).toMatchObject({ type: 'compacted', mechanism: 'hook' })
    expect(asked(stage)).toEqual([])
    expect(textOf(session.messages()[0]?.content)).toContain('The parcels are sorted.')
    await session.close()
  })

  test('context is put into the new conversation, before the latest request', async () => {
    const { session } = await hooked({ event: 'SessionStart', script: "console.log('branch: release/7')" })
    expect((await session.compact()).type).toBe('compacted')
    const words = textOf(session.messages()[0]?.content)
    expect(words).toContain('branch: release/7')
    expect(words.lastIndexOf('Then the labels.')).toBeGreaterThan(words.indexOf('branch: release/7'))
    await session.close()
  })

  test.each<[string, Omit<Said, 'event'>, string]>([
    ['a time-out', { script: 'setInterval(() => {}, 1000)', timeout: 0.5 }, 'ended after 0.5 s without finishing'],
    ['garbage', { script: `console.log('{"decision": ')` }, 'its output begins like JSON and is none'],
    ['another exit code', { script: "console.error('broken'); process.exit(3)" }, 'exit code 3: broken'],
  ])('%s is told and not fatal, before and after', async (_, said, told) => {
    const { stage, session } = await hooked({ event: 'PreCompact', ...said }, { event: 'PostCompact', ...said })
    expect((await session.compact()).type).toBe('compacted')
    const reported = stage.events.flatMap((event) => (event.type === 'hook-reported' ? [event] : []))
    expect(reported).toEqual([
      { type: 'hook-reported', event: 'PreCompact', problem: expect.stringContaining(told), sessionId: session.id },
      { type: 'hook-reported', event: 'PostCompact', problem: expect.stringContaining(told), sessionId: session.id },
    ])
    await session.close()
  })
})
