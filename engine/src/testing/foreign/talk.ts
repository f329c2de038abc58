// Made-up sessions of the Copilot CLI, the Gemini CLI, Cursor and opencode: one conversation in each of their formats.
import type { JsonObject } from '../../core/message/json.ts'
import { title } from '../sessions/text.ts'
import { nouns } from '../sessions/words.ts'
import { cwd, type Setting, type SmallSessionOptions, settingOf } from './setting.ts'

export const talkFormats = ['copilot', 'gemini', 'cursor', 'opencode'] as const

export type TalkOptions = SmallSessionOptions & { readonly format: (typeof talkFormats)[number] }

export type TalkTruth = {
  readonly compactions: number
  readonly calls: number
  /** All words of the user, and those since the last compaction. */
  readonly said: readonly string[]
  readonly live: readonly string[]
}

export type Talk = { readonly records: readonly JsonObject[]; readonly truth: TalkTruth }

type Call = { readonly id: string; readonly name: string; readonly input: JsonObject; readonly output: string }

/** How an agent records its actions. */
type Pen = {
  readonly start: readonly JsonObject[]
  readonly user: (text: string) => readonly JsonObject[]
  readonly answer: (text: string, calls: readonly Call[]) => readonly JsonObject[]
  /** Absent if the agent records none. */
  readonly compaction?: (summary: string) => readonly JsonObject[]
  /** For an agent that writes one document. */
  readonly end?: (records: readonly JsonObject[]) => JsonObject
}

export function generateTalk({ format, ...options }: TalkOptions): Talk {
  const setting = settingOf(options)
  const { random, pool, turns, compactionTurns } = setting
  const pen = pens[format](setting)
  const records: JsonObject[] = [...pen.start]
  const said: string[] = []
  let [compactions, calls, since] = [0, 0, 0]
  for (let turn = 1; turn <= turns; turn++) {
    said.push(`${title(random)}. ${pool.cut('prose', 200)}`)
    records.push(...pen.user(said.at(-1) ?? ''))
    for (let round = random.int(1, 3); round > 0; round--) {
      const made = Array.from({ length: random.int(1, 2) }, () => call(setting))
      calls += made.length
      records.push(...pen.answer(pool.sentence(), made))
    }
    records.push(...pen.answer(pool.cut('markdown', random.int(100, 900)), []))
    if (!pen.compaction || !compactionTurns.includes(turn)) continue
    records.push(...pen.compaction(`# Where things stand\n\n${pool.cut('markdown', 900)}`))
    compactions++
    since = said.length
  }
  const truth = { compactions, calls, said, live: said.slice(since) }
  return { records: pen.end ? [pen.end(records)] : records, truth }
}

function call({ random, pool }: Setting): Call {
  const input = { path: `src/${random.pick(nouns)}.ts` }
  return { id: `call_${random.hex(16)}`, name: 'read_file', input, output: pool.cut('code', random.int(200, 3_000)) }
}

function clock(setting: Setting): () => string {
  return () => {
    setting.time += setting.random.int(200, 9_000)
    return new Date(setting.time).toISOString()
  }
}

const model = 'claude-sonnet-4-5'

const pens: Readonly<Record<TalkOptions['format'], (setting: Setting) => Pen>> = {
  copilot: (setting) => {
    const now = clock(setting)
    let parentId: string | null = null
    const event = (type: string, data: JsonObject): JsonObject => {
      const id = setting.random.uuid()
      const made = { type, data, id, timestamp: now(), parentId }
      parentId = id
      return made
    }
    const context = { cwd, branch: 'main' }
    return {
      start: [
        event('session.start', { sessionId: setting.random.uuid(), version: 1, producer: 'copilot-agent', context }),
        event('session.model_change', { newModel: model }),
      ],
      user: (content) => [
        event('user.message', { content, transformedContent: `<current_datetime>x</current_datetime>\n${content}` }),
        event('assistant.turn_start', { turnId: '0' }),
      ],
      answer: (content, calls) => [
        event('assistant.message', {
          ...{ messageId: setting.random.uuid(), content },
          toolRequests: calls.map(({ id, name, input }) => ({ toolCallId: id, name, arguments: input })),
        }),
        ...calls.flatMap(({ id, name, input, output }) => [
          event('tool.execution_start', { toolCallId: id, toolName: name, arguments: input }),
          event('tool.execution_complete', { toolCallId: id, success: true, result: { content: output } }),
        ]),
      ],
      compaction: (summaryContent) => [
        event('session.compaction_start', {}),
        event('session.compaction_complete', { success: true, preCompactionTokens: 90_000, summaryContent }),
      ],
    }
  },
  gemini: (setting) => {
    const now = clock(setting)
    const message = (type: string, fields: JsonObject) => ({
      id: setting.random.uuid(),
      timestamp: now(),
      type,
      ...fields,
    })
    const startTime = now()
    const start = {
      sessionId: setting.random.uuid(),
      projectHash: setting.random.hex(64),
      startTime,
      lastUpdated: startTime,
    }
    return {
      start: [
        { ...start, kind: 'main' },
        {
          $set: {
            messages: [message('user', { content: [{ text: `<session_context>\n${cwd}\n</session_context>` }] })],
          },
        },
      ],
      user: (text) => [message('user', { content: [{ text }] }), { $set: { lastUpdated: now() } }],
      answer: (content, calls) => {
        const tokens = { input: 20_000, output: 90, cached: 15_000, thoughts: 10, tool: 0, total: 20_100 }
        const first = message('gemini', { content, thoughts: [], tokens, model: 'gemini-3-pro' })
        if (calls.length === 0) return [first]
        const toolCalls = calls.map(({ id, name, input, output }) => ({
          ...{ id, name, args: input, status: 'success', timestamp: now() },
          result: [{ functionResponse: { id, name, response: { output } } }],
        }))
        // Written again after the tools have run. The results follow in the model's form.
        return [first, { ...first, toolCalls }, message('user', { content: toolCalls.map(({ result }) => result[0]) })]
      },
      compaction: (summary) => {
        const snapshot = message('user', { content: [{ text: `<state_snapshot>\n${summary}\n</state_snapshot>` }] })
        return [{ $set: { messages: [snapshot, message('gemini', { content: 'Got it.' })] } }]
      },
    }
  },
  cursor: () => {
    const record = (role: string, content: readonly JsonObject[]) => ({ role, message: { content } })
    return {
      start: [],
      user: (text) => [record('user', [{ type: 'text', text: `<user_query>\n${text}\n</user_query>` }])],
      answer: (text, calls) => [
        record('assistant', [
          { type: 'text', text },
          ...calls.map(({ name, input }) => ({ type: 'tool_use', name, input })),
        ]),
      ],
    }
  },
  opencode: (setting) => {
    const now = clock(setting)
    const sessionID = `ses_${setting.random.hex(20)}`
    const message = (role: string, parts: readonly JsonObject[], more: JsonObject = {}) => {
      const info = {
        id: `msg_${setting.random.hex(20)}`,
        sessionID,
        role,
        time: { created: Date.parse(now()) },
        ...more,
      }
      return { info, parts }
    }
    const tokens = { input: 900, output: 90, reasoning: 0, cache: { read: 15_000, write: 0 } }
    const answered = { modelID: model, providerID: 'anthropic', tokens }
    return {
      start: [],
      user: (text) => [message('user', [{ type: 'text', text }])],
      answer: (text, calls) => {
        const tools = calls.map(({ id, name, input, output }) => ({
          ...{ type: 'tool', callID: id, tool: name, state: { status: 'completed', input, output, metadata: {} } },
        }))
        const parts = [{ type: 'step-start' }, { type: 'text', text }, ...tools, { type: 'step-finish' }]
        return [message('assistant', parts, answered)]
      },
      compaction: (text) => [
        message('user', [{ type: 'compaction', auto: true }]),
        message('assistant', [{ type: 'text', text }], { ...answered, summary: true }),
      ],
      end: (messages) => ({ info: { id: sessionID, directory: cwd, title: 'Reports', version: '1.18.33' }, messages }),
    }
  },
}
