import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { reductions } from './core/mechanisms/lists.ts'
import type { RunningMechanism } from './core/mechanisms/mechanism.ts'
import { shapeOf } from './core/message/shape.ts'
import type { Restore } from './core/ports/restore.ts'
import type { Session } from './core/session/session-api.ts'
import { summarize } from './core/session/summarize.ts'
import { plainMechanism } from './core/session/testing/mechanisms.ts'
import { ConfigurationError } from './core/tokens/figure.ts'
import { offline } from './models/offline.ts'
import { readTranscript } from './node/read/transcript.ts'
import { createEngine, type EngineOptions, type SessionOptions } from './node-engine.ts'
import { generateSession, serialize } from './testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-engine-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-5',
  content: [{ type: 'text', text: 'The migration runs before the parser. '.repeat(200) }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 900, output_tokens: 1_200 },
}

/** A compaction mechanism of the host's own. */
const summarizing = (restore?: Restore): RunningMechanism => ({
  name: 'mine',
  run: (context) => summarize({ ...context, restore: restore ?? context.restore }),
})

const bringing =
  (text: string): Restore =>
  async () => ({ pieces: [{ kind: 'note', title: 'Note', text, tokens: 5 }], notRestored: [], tokens: 5 })

describe('the engine', () => {
  test('the ten lines that a newcomer reads work as they are', async () => {
    const engine = createEngine({ model: offline(), environment: {} })
    const session = await engine.start({ path: join(folder, 'session.jsonl') })
    const userMessage = { role: 'user', content: 'Mend the parser. Never touch the migration.' } as const
    session.add(userMessage)
    const request = await session.prepare()
    session.record(answer)
    const compacted = await session.compact({ instructions: 'keep the schema decisions' })
    const explained = session.explain()
    const recalled = await session.recall('migration')
    const undone = await session.undo()
    await session.close()

    expect(request).toMatchObject({ type: 'ready', body: { messages: [{ role: 'user' }] } })
    expect(compacted).toMatchObject({ type: 'compacted' })
    expect(explained.size.tokens).toBeLessThan(2_100)
    expect(recalled.matches.length).toBeGreaterThan(0)
    expect(undone).toMatchObject({ type: 'undone', change: { type: 'compaction' } })
    expect(existsSync(join(folder, 'session.jsonl'))).toBe(true)
  })

  test('of a long session, what a kill left of a compaction is taken out, and the conversation is whole ever after', async () => {
    const path = join(folder, 'torn.jsonl')
    const said = [...generateSession({ seed: 5, targetBytes: 1_500_000, boundaries: 0 })].map(serialize).join('')
    writeFileSync(path, said)
    const engine = createEngine({ model: offline(), environment: {}, settings: { contextWindow: 1_000_000 } })
    const first = await engine.open(path)
    const before = first.messages()
    expect((await first.compact()).type).toBe('compacted')
    await first.close()
    const whole = readFileSync(path)
    const boundary = whole.indexOf(10, Buffer.byteLength(said)) + 1
    writeFileSync(path, whole.subarray(0, boundary))

    const second = await engine.open(path)
    expect(second.messages()).toEqual(before)
    second.add({ role: 'user', content: 'And on.' })
    const after = second.messages()
    expect(after.length).toBeGreaterThanOrEqual(before.length)
    await second.close()
    const third = await engine.open(path)
    expect(third.messages()).toEqual(after)
    await third.close()
  })

  test('what a host attached after a compaction is there when the compaction is undone', async () => {
    const session = await createEngine({ model: offline(), environment: {} }).start()
    session.add({ role: 'user', content: `Mend the parser. ${'word '.repeat(500)}` })
    session.record(answer)
    expect((await session.compact()).type).toBe('compacted')
    session.add({ role: 'user', content: 'The branch is main.', origin: 'attachment', attachment: 'git' })
    session.add({ role: 'user', content: 'Go on.' })
    await session.undo()
    expect(shapeOf(session.messages())).toBe('u a u[t2]')
    expect(JSON.stringify(session.messages())).toContain('The branch is main.')
  })

  test('answers that a client gives one and the same id stay answers of their own, also over a compaction', async () => {
    const path = join(folder, 'same-ids.jsonl')
    const engine = createEngine({ model: offline(), environment: {} })
    const session = await engine.start({ path })
    for (const nth of [1, 2]) {
      session.add({ role: 'user', content: `Question ${nth}` })
      session.record({ ...answer, content: [{ type: 'text', text: `Answer ${nth}. ${'word '.repeat(500)}` }] })
    }
    expect((await session.compact()).type).toBe('compacted')
    session.add({ role: 'user', content: 'Go on.' })
    session.record(answer)
    const view = session.messages()
    expect(view.at(-1)?.content).toEqual(answer.content)
    expect(readTranscript(path).view.messages).toEqual(view)
    await session.close()
  })

  test('a reopened session reaches what lies before its last compaction: undo, rewind, pin, unpin', async () => {
    const path = join(folder, 'long.jsonl')
    writeFileSync(
      path,
      [...generateSession({ seed: 6, targetBytes: 1_500_000, boundaries: 0 })].map(serialize).join(''),
    )
    const engine = createEngine({ model: offline(), environment: {}, settings: { contextWindow: 1_000_000 } })
    const first = await engine.open(path)
    const before = first.messages()
    const early = before[2]?.uuid ?? ''
    expect((await first.compact()).type).toBe('compacted')
    await first.close()

    const reopened = async <T>(use: (session: Session) => Promise<T>): Promise<T> => {
      const session = await engine.open(path)
      try {
        return await use(session)
      } finally {
        await session.close()
      }
    }
    const done = { type: 'done', freed: 0 }
    expect(await reopened((session) => session.pin(early))).toEqual(done)
    expect(await reopened((session) => session.unpin(early))).toEqual(done)
    expect(await reopened((session) => session.pin('nobody'))).toMatchObject({ type: 'declined' })
    const rewound = await reopened(async (session) => {
      expect(await session.rewind(early)).toEqual(done)
      const then = session.messages()
      expect(await session.undo()).toMatchObject({ type: 'undone', change: { type: 'rewind' } })
      return then
    })
    expect(rewound).toEqual(before.slice(0, 3))
    const after = await reopened(async (session) => {
      expect(await session.undo()).toMatchObject({ type: 'undone', change: { type: 'compaction' } })
      return session.messages()
    })
    expect(after).toEqual(before)
    expect(await reopened(async (session) => session.messages())).toEqual(before)
  })

  test.each([
    ['a thrifty session puts back the files of the turn at hand', 'thrifty', ['/p/new.ts']],
    ['between turns those of the one that has ended', 'thrifty', ['/p/new.ts'], 'Well done.'],
    ['the default also those of before, by hand', 'default', ['/p/new.ts', '/p/old.ts']],
    ['and so does claude-code', 'claude-code', ['/p/new.ts', '/p/old.ts']],
  ] as const)('%s', async (_, economy, expected, next?: string) => {
    const text = 'export const whatever = 1\n'.repeat(20)
    const files = { read: async () => ({ type: 'text', text }) as const }
    const session = await createEngine({ model: offline(), environment: {}, files, settings: { economy } }).start()
    const reads = (path: string) => {
      const use = { type: 'tool_use', id: `t-${path}`, name: 'Read', input: { file_path: path } }
      session.record({ ...answer, id: `msg-${path}`, content: [...answer.content, use] })
      session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: text }] })
    }
    session.add({ role: 'user', content: 'Look at the old one.' })
    reads('/p/old.ts')
    session.record(answer)
    session.add({ role: 'user', content: 'Look at the new one.' })
    reads('/p/new.ts')
    session.record({ ...answer, id: 'msg-last' })
    if (next !== undefined) session.add({ role: 'user', content: next })
    expect((await session.compact()).type).toBe('compacted')
    const seen = JSON.stringify(session.messages())
    expect(['/p/new.ts', '/p/old.ts'].filter((path) => seen.includes(`File ${path}\\n`))).toEqual(expected)
    await session.close()
  })

  test('a compaction can ask for the state of the workspace, unless the files are elsewhere', async () => {
    const own = { state: async () => ({ type: 'unknown', why: 'a workspace of the host' }) as const }
    const stateIn = async (options: Partial<EngineOptions>, session: SessionOptions, recorded?: string) => {
      const path = join(folder, `workspace-${crypto.randomUUID()}.jsonl`)
      const first = { type: 'user', uuid: 'u1', parentUuid: null, sessionId: 's', cwd: recorded }
      const message = { role: 'user', content: 'Go on. '.repeat(500) }
      writeFileSync(path, `${JSON.stringify({ ...first, message })}\n`)
      const asked: unknown[] = []
      const mechanism = plainMechanism('done', {
        during: async ({ ports }) => void asked.push(await ports.workspace?.state()),
      })
      const engine = createEngine({
        model: offline(),
        environment: {},
        mechanisms: { compact: [mechanism] },
        ...options,
      })
      const opened = await engine.open(path, session)
      await opened.compact()
      await opened.close()
      return asked
    }
    const noGit = { type: 'unknown', why: 'the folder is not in a git repository' }
    const files = { read: async () => ({ type: 'missing' }) as const }
    expect(await stateIn({}, { envelope: { cwd: folder } }, '/another/machine')).toEqual([noGit])
    expect(await stateIn({}, {}, process.cwd())).toEqual([expect.objectContaining({ type: expect.any(String) })])
    expect(await stateIn({}, {}, '/another/machine')).toEqual([undefined])
    expect(await stateIn({ files }, { envelope: { cwd: folder } })).toEqual([undefined])
    expect(await stateIn({ files, workspace: own }, {})).toEqual([await own.state()])
  })

  test('a host adds mechanisms to the default ones, which know the notes and the files', async () => {
    const seen: string[] = []
    const mine: RunningMechanism = {
      name: 'mine',
      run: async () => ({ type: 'declined', reason: 'not-now', why: 'not today' }),
    }
    const text = 'export const whatever = 1\n'.repeat(20)
    const engine = createEngine({
      model: offline(),
      environment: {},
      files: { read: async () => ({ type: 'text', text }) },
      settings: { collapse: true, reductions: { native: {} } },
      mechanisms: ({ compact, reduce }) => {
        seen.push(...compact.map(({ name }) => name), ...reduce.map(({ name }) => name))
        return { compact: [mine, ...compact] }
      },
    })
    const session = await engine.start({ path: join(folder, 'mechanisms.jsonl') })
    session.add({ role: 'user', content: 'Look at the file.' })
    const use = { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/p/new.ts' } }
    session.record({ ...answer, content: [...answer.content, use] })
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: text }] })
    session.record(answer)
    const { tried } = await session.compact()
    expect(seen).toEqual(['session-memory', 'compact', 'collapse', ...reductions.map(({ name }) => name)])
    expect(tried.map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)).toEqual([
      'mine declined',
      'session-memory declined',
      'offline done',
      'compact done',
    ])
    expect(JSON.stringify(session.messages())).toContain('File /p/new.ts')
    await session.close()
  })

  test.each<[string, Partial<EngineOptions>, string]>([
    ['the files of the session', {}, 'File /p/new.ts'],
    ['what the engine was told to', { restore: bringing('from the engine') }, 'from the engine'],
    [
      'what it was told to itself',
      {
        restore: bringing('from the engine'),
        mechanisms: { compact: [summarizing(bringing('from the mechanism'))] },
      },
      'from the mechanism',
    ],
  ])('a compaction mechanism of the host’s own puts back %s', async (_, options, expected) => {
    const text = 'export const whatever = 1\n'.repeat(20)
    const files = { read: async () => ({ type: 'text', text }) as const }
    const mechanisms = { compact: [summarizing()] }
    const session = await createEngine({ model: offline(), environment: {}, files, mechanisms, ...options }).start()
    session.add({ role: 'user', content: 'Look at the file.' })
    const use = { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/p/new.ts' } }
    session.record({ ...answer, content: [...answer.content, use] })
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: text }] })
    session.record(answer)
    expect((await session.compact()).type).toBe('compacted')
    const seen = JSON.stringify(session.messages())
    const all = ['File /p/new.ts', 'from the engine', 'from the mechanism']
    expect(all.filter((one) => seen.includes(one))).toEqual([expected])
    await session.close()
  })

  test.each([
    ['the setting target', { settings: { target: 0.5 } }, 0.5],
    ['the default', {}, 0.6],
  ])('how far a compaction must get: %s', async (_, options, share) => {
    const targets: number[] = []
    const run: RunningMechanism['run'] = async ({ target, situation }) => {
      targets.push(target / situation.explanation.autoCompactThreshold.value)
      return { type: 'declined', reason: 'not-now', why: 'only looking' }
    }
    const mechanisms = { compact: [{ name: 'looking', run }] }
    const session = await createEngine({ model: offline(), environment: {}, mechanisms, ...options }).start()
    session.add({ role: 'user', content: 'Mend the parser.' })
    await session.compact()
    expect(targets.map((target) => Math.round(target * 100) / 100)).toEqual([share])
    await session.close()
  })

  test('a session may have another model than the client’s own', async () => {
    const session = await createEngine({ model: offline(), environment: {} }).start({ model: 'claude-opus-4-5' })
    session.add({ role: 'user', content: 'Mend the parser.' })
    expect(await session.prepare()).toMatchObject({ type: 'ready', model: 'claude-opus-4-5' })
    expect(session.explain().contextWindow.value).toBe(200_000)
  })

  test('the file of a sub-agent carries the id of the session it belongs to, and its own', async () => {
    const session = await createEngine({ model: offline(), environment: {} }).start({
      path: join(folder, 'parent.jsonl'),
      envelope: { cwd: '/w', version: '1' },
    })
    const sub = await session.subagent({ envelope: { cwd: '/w/lexer' } })
    sub.add({ role: 'user', content: 'Look at the lexer.' })
    await sub.close()
    await session.close()
    const [record] = readFileSync(String(sub.path), 'utf8').split('\n')
    expect(JSON.parse(String(record))).toMatchObject({
      sessionId: session.id,
      agentId: sub.agentId,
      isSidechain: true,
      cwd: '/w/lexer',
    })
  })

  test('without a path it lives in memory, and can be searched all the same', async () => {
    const session = await createEngine({ model: offline(), environment: {} }).start()
    session.add({ role: 'user', content: 'Mend the parser.' })
    await session.send()
    session.add({ role: 'user', content: 'And the lexer.' })
    await session.send()
    expect(session.path).toBeUndefined()
    expect(shapeOf(session.messages())).toBe('u a u a')
    expect((await session.recall('lexer')).matches).toMatchObject([{ kind: 'human', snippet: 'And the lexer.' }])
  })

  test.each([['in memory'], ['on disk']])(
    '%s, what tools were given and what they brought is recalled, and read by id',
    async (where) => {
      const path = where === 'on disk' ? { path: join(folder, 'recall.jsonl') } : {}
      const session = await createEngine({ model: offline(), environment: {} }).start(path)
      const [asked = ''] = session.add({ role: 'user', content: 'Where does it say giraffe?' })
      const use = { type: 'tool_use', id: 'toolu_z', name: 'Bash', input: { command: 'grep zebra-77 file' } }
      session.record({ ...answer, id: 'msg_z', content: [use] })
      session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'hippo-5 is here' }] })
      const kinds = async (words: string) => (await session.recall(words)).matches.map(({ kind }) => kind)
      expect([await kinds('giraffe'), await kinds('zebra-77'), await kinds('hippo-5')]).toEqual([
        ['human'],
        ['tool-use'],
        ['tool-result'],
      ])
      expect([await session.read('toolu_z'), await session.read(asked), await session.read('nobody')]).toEqual([
        'hippo-5 is here',
        'Where does it say giraffe?',
        undefined,
      ])
      await session.close()
    },
  )

  test('an image that is attached stays an image', async () => {
    const session = await createEngine({ model: offline(), environment: {} }).start()
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'eA==' } }
    session.add({ role: 'user', content: [{ type: 'text', text: 'The screen:' }, image], origin: 'attachment' })
    session.add({ role: 'user', content: 'What is wrong here?' })
    expect(shapeOf(session.messages())).toBe('u[t img t]')
    expect(JSON.stringify(session.messages())).toContain(JSON.stringify(image))
  })

  test('adding and recording cost no more in a long conversation than in a short one', async () => {
    const engine = createEngine({ model: offline(), environment: {}, settings: { contextWindow: 5_000_000 } })
    const session = await engine.start()
    const cost = (turns: number) => {
      const began = process.cpuUsage()
      for (let at = 0; at < turns; at++) {
        session.add({ role: 'user', content: `Question ${at}` })
        session.record({ content: `Answer ${at}` })
      }
      const { user, system } = process.cpuUsage(began)
      return user + system
    }
    cost(1_000)
    const early = cost(2_000)
    cost(8_000)
    // About four times as much if each step reads everything before it.
    expect(cost(2_000) / early).toBeLessThan(2.5)
    expect(session.messages()).toHaveLength(26_000)
  })

  test('settings that cannot work are said when a session is opened, with the numbers', async () => {
    const engine = createEngine({
      model: offline(),
      environment: {},
      settings: { contextWindow: 10_000, maxOutputTokens: 10_000 },
    })
    await expect(engine.start()).rejects.toThrow(ConfigurationError)
    await expect(engine.start()).rejects.toThrow('10,000')
    const path = join(folder, 'refused.jsonl')
    await expect(engine.start({ path })).rejects.toThrow(ConfigurationError)
    // The lease was released.
    const session = await createEngine({ model: offline(), environment: {} }).open(path)
    await session.close()
  })

  test('a session of another agent is read, not continued', async () => {
    const engine = createEngine({ model: offline(), environment: {} })
    const path = join(folder, 'foreign.jsonl')
    writeFileSync(
      path,
      `${JSON.stringify({ type: 'session_meta', timestamp: '2026-01-01T00:00:00Z', payload: { id: 'x', cwd: '/' } })}\n`,
    )
    await expect(engine.open(path)).rejects.toThrow('it can be read but not continued')
  })

  test.each([
    ['package.json', '{\n  "name": "mine",\n  "type": "module"\n}\n'],
    ['data.json', '{"name":"mine"}'],
    ['log.jsonl', '{"level":"info","message":"started"}\n{"level":"info","message":"stopped"}\n'],
    ['photo.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13])],
  ])('%s is no transcript: it is refused and stays as it is', async (name, bytes) => {
    const path = join(folder, name)
    writeFileSync(path, bytes)
    const files = readdirSync(folder)
    await expect(createEngine({ model: offline(), environment: {} }).open(path)).rejects.toThrow('is not a transcript')
    expect(readFileSync(path).equals(Buffer.from(bytes))).toBe(true)
    expect(readdirSync(folder)).toEqual(files)
  })

  test('opened with ifMissing: start, is started the first time and continued from then on', async () => {
    const path = join(folder, 'chat.jsonl')
    const engine = createEngine({ model: offline(), environment: {} })
    const first = await engine.open(path, { ifMissing: 'start' })
    first.add({ role: 'user', content: 'Hello.' })
    await first.close()
    const again = await engine.open(path, { ifMissing: 'start' })
    expect(again.messages().map(({ content }) => content)).toEqual(['Hello.'])
    await again.close()
    writeFileSync(path, 'no transcript')
    await expect(engine.open(path, { ifMissing: 'start' })).rejects.toThrow('is not a transcript')
  })

  test('a file that is not there is not opened, and one that is there is not started', async () => {
    const engine = createEngine({ model: offline(), environment: {} })
    const path = join(folder, 'not', 'there.jsonl')
    await expect(engine.open(path)).rejects.toThrow('start({ path })')
    expect(existsSync(join(folder, 'not'))).toBe(false)
    await (await engine.start({ path })).close()
    await expect(engine.start({ path })).rejects.toThrow('use open()')
    await (await engine.open(path)).close()
  })

  test('a session whose very first record a crash cut can be opened', async () => {
    const engine = createEngine({ model: offline(), environment: {} })
    const path = join(folder, 'first.jsonl')
    const first = await engine.start({ path })
    first.add({ role: 'user', content: 'Hello.' })
    await first.close()
    const whole = readFileSync(path)
    for (let length = 0; length < whole.length - 1; length += 7) {
      writeFileSync(path, whole.subarray(0, length))
      const session = await engine.open(path)
      session.add({ role: 'user', content: 'Hello again.' })
      expect(session.messages().map(({ content }) => content)).toEqual(['Hello again.'])
      await session.close()
    }
  })

  test('a transcript that was shortened from outside takes no more, and what is left can be opened', async () => {
    const engine = createEngine({ model: offline(), environment: {} })
    const path = join(folder, 'shortened.jsonl')
    const session = await engine.start({ path })
    session.add({ role: 'user', content: 'One.' })
    const length = statSync(path).size
    session.record(answer)
    truncateSync(path, length)
    expect(() => session.add({ role: 'user', content: 'Two.' })).toThrow('was truncated')
    expect(statSync(path).size).toBe(length)
    await session.close()
    const again = await engine.open(path)
    expect(again.messages().map(({ content }) => content)).toEqual(['One.'])
    await again.close()
  })
})

describe('automatic compaction with keep', () => {
  const started = (keep: NonNullable<EngineOptions['settings']>['keep']) =>
    createEngine({
      model: offline(),
      environment: {},
      settings: { contextWindow: 60_000, ...(keep === undefined ? {} : { keep }) },
    }).start()

  /** What was added before the first automatic compaction, and what follows its summary. */
  async function keptOf(keep: NonNullable<EngineOptions['settings']>['keep']) {
    const session = await started(keep)
    const said: unknown[] = []
    for (let at = 0; ; at++) {
      const question = { role: 'user', content: `Question ${at}: ${'and what about the parser? '.repeat(80)}` } as const
      said.push(question.content)
      session.add(question)
      const prepared = await session.prepare()
      if (prepared.compaction) {
        const context = session.messages().filter(({ origin }) => origin === 'human' || origin === 'assistant')
        return { said, kept: context.map(({ content }) => (typeof content === 'string' ? content : content[0]?.text)) }
      }
      const content = `Answer ${at}: ${'it is done. '.repeat(80)}`
      said.push(content)
      session.record({ content })
    }
  }

  test.each([2, 6])('the newest %d messages stay word for word', async (keep) => {
    const { said, kept } = await keptOf(keep)
    expect(kept).toEqual(said.slice(-keep))
  })

  test('as many stay as fit into the tokens', async () => {
    const { said, kept } = await keptOf({ tokens: 3_000 })
    expect(kept.length).toBeGreaterThan(2)
    expect(kept).toEqual(said.slice(-kept.length))
  })

  test('results that the model has not seen are kept, and the messages before them too', async () => {
    const session = await started(5)
    session.add({ role: 'user', content: 'Read them all.' })
    for (let at = 0; ; at++) {
      session.record({ content: [{ type: 'tool_use', id: `t${at}`, name: 'lookup', input: { at } }] })
      const content = `Result ${at}: ${'nothing new. '.repeat(150)}`
      session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content }] })
      if (!(await session.prepare()).compaction) continue
      const shown = JSON.stringify(session.messages())
      const kept = Array.from({ length: at + 1 }, (_, nth) => nth).filter((nth) => shown.includes(`"t${nth}"`))
      // Five messages would begin with a result without its call.
      expect(kept).toEqual([at - 1, at])
      return
    }
  })

  test('a number that would leave no room for the summary keeps what fits', async () => {
    const { said, kept } = await keptOf(1_000)
    expect(kept.length).toBeLessThan(said.length / 2)
    expect(kept).toEqual(said.slice(-kept.length))
  })
})

describe('messages of chat completions', () => {
  test('keep a PDF and the input of a custom tool', async () => {
    const session = await createEngine({ model: offline(), environment: {} }).start()
    const file = { filename: 'order.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' }
    session.add({ role: 'user', content: [{ type: 'file', file }] })
    const call = { id: 'call_1', type: 'custom', custom: { name: 'patch', input: '*** Begin Patch' } }
    session.record({ choices: [{ message: { role: 'assistant', content: null, tool_calls: [call] } }] })
    expect(session.messages().map(({ content }) => content)).toEqual([
      [
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
          title: 'order.pdf',
        },
      ],
      [{ type: 'tool_use', id: 'call_1', name: 'patch', input: { input: '*** Begin Patch' } }],
    ])
    await session.close()
  })

  test('are added and recorded as they come, and go out in the shape of the Messages API', async () => {
    const session = await createEngine({ model: offline(), environment: {} }).start({
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
    })
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    session.add({ role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] })
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }]
    const usage = { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 40 } }
    const message = { role: 'assistant', content: null, tool_calls: calls }
    session.record({ id: 'chat_1', model: 'gpt-5', choices: [{ message, finish_reason: 'tool_calls' }], usage })
    session.add({ role: 'tool', tool_call_id: 'call_1', content: 'A cat.' })
    const prepared = await session.prepare()
    const { input, cacheRead, output } = session.messages().find(({ usage }) => usage)?.usage ?? {}
    await session.close()

    expect(prepared).toMatchObject({
      body: {
        tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }],
        messages: [
          {
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
            ],
          },
          { content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { at: 1 } }] },
          { content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'A cat.' }] },
        ],
      },
    })
    expect([input, cacheRead, output]).toEqual([60, 40, 10])
  })
})
