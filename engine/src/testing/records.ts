// Small sessions written by hand in a test. Ids are predictable (u1 is the first user line, a1 the first assistant line
// …), and parents are those the client would use.
import type { JsonObject } from '../core/message/json.ts'
import {
  assistantBody,
  attachmentBody,
  boundaryBody,
  preservedFields,
  progressBody,
  summaryFlags,
  systemBody,
  type UserBody,
  usageOf,
  userBody,
} from './sessions/bodies.ts'
import { type ClientStyle, frame, modelOf, type Place, resultsBranch } from './sessions/style.ts'
import { uuidOf } from './sessions/truth.ts'

export type BuilderOptions = {
  readonly style?: ClientStyle
  readonly sessionId?: string
  readonly startTime?: string
  readonly cwd?: string
  /** Maps a name such as u1 to the id that is written. */
  readonly ids?: (name: string) => string
}

export type LineChoices = {
  readonly uuid?: string
  readonly parent?: string | null
  readonly promptId?: string
  /** Additional top-level fields. */
  readonly fields?: JsonObject
}

export type AnswerChoices = LineChoices & {
  /** Default: m1, m2, … */
  readonly messageId?: string
  readonly model?: string
  readonly tokens?: {
    readonly input?: number
    readonly cacheRead?: number
    readonly cacheWrite?: number
    readonly output?: number
  }
}

export type ResultChoices = LineChoices & { readonly toolUseResult?: unknown; readonly isError?: boolean }

export type BoundaryChoices = LineChoices & {
  readonly trigger?: 'auto' | 'manual'
  readonly preTokens?: number
  readonly postTokens?: number
  readonly kept?: readonly string[]
  readonly logicalParent?: string
  /** Additional metadata fields. */
  readonly metadata?: JsonObject
}

/** The record on one line, newline included. */
export function serialize(record: JsonObject): string {
  return `${JSON.stringify(record)}\n`
}

export function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}

export function thinkingBlock(thinking: string, signature = 'c2lnbmF0dXJl'): JsonObject {
  return { type: 'thinking', thinking, signature }
}

export function toolUseBlock(id: string, name: string, input: JsonObject = {}): JsonObject {
  return { type: 'tool_use', id, name, input }
}

/** `session().user('hello').assistant('hi').records` */
export function session(options: BuilderOptions = {}): SessionBuilder {
  return new SessionBuilder(options)
}

export class SessionBuilder {
  readonly records: JsonObject[] = []
  readonly style: ClientStyle
  readonly sessionId: string
  private tip: string | null = null
  private agentId: string | undefined
  private time: number
  private readonly cwd: string
  private readonly ids: (name: string) => string
  private readonly counters = new Map<string, number>()
  private readonly callLines = new Map<string, string>()

  constructor(options: BuilderOptions) {
    this.style = options.style ?? '2.1-late'
    this.sessionId = options.sessionId ?? '00000000-0000-4000-8000-000000000000'
    this.cwd = options.cwd ?? '/home/dev/project'
    this.ids = options.ids ?? ((name) => name)
    this.time = Date.parse(options.startTime ?? '2026-03-02T09:00:00.000Z')
  }

  get last(): string | null {
    return this.tip
  }

  get text(): string {
    return this.records.map(serialize).join('')
  }

  user(content: string | readonly JsonObject[], choices: LineChoices = {}): this {
    return this.add(choices, this.userLine('u', choices, { content }))
  }

  /** One line per block, all with the same message id. */
  assistant(content: string | readonly JsonObject[], choices: AnswerChoices = {}): this {
    const blocks = typeof content === 'string' ? [textBlock(content)] : content
    const messageId = choices.messageId ?? this.number('m')
    const counts = { input: 10, cacheRead: 0, cacheWrite: 0, output: 20, ...choices.tokens }
    const stopReason = blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
    blocks.forEach((block, index) => {
      const place = index === 0 ? choices : choices.fields ? { fields: choices.fields } : {}
      const stamp = this.stamp('a', place)
      if (typeof block.id === 'string') this.callLines.set(block.id, stamp.uuid)
      const body = assistantBody({
        ...stamp,
        style: this.style,
        model: choices.model ?? modelOf(this.style),
        messageId,
        requestId: `req_${messageId}`,
        block,
        stopReason,
        usage: usageOf(this.style, counts),
      })
      this.add(place, body)
    })
    return this
  }

  toolUse(id: string, name: string, input: JsonObject = {}, choices: AnswerChoices = {}): this {
    return this.assistant([toolUseBlock(id, name, input)], choices)
  }

  /** The parent is the call if the style does that, else the last line. */
  toolResult(id: string, content: string | readonly JsonObject[], choices: ResultChoices = {}): this {
    const call = this.callLines.get(id)
    const isBranch = resultsBranch(this.style) && call !== undefined
    const block = { tool_use_id: id, type: 'tool_result', content, ...(choices.isError ? { is_error: true } : {}) }
    const raw = choices.toolUseResult === undefined ? { stdout: content, stderr: '' } : choices.toolUseResult
    const extra = { toolUseResult: raw, ...(isBranch ? { sourceToolAssistantUUID: call } : {}) }
    const body = this.userLine('r', choices, { content: [block], extra })
    return this.add(isBranch ? { parent: call, ...choices } : choices, body)
  }

  /** A summary must follow. */
  boundary(choices: BoundaryChoices = {}): this {
    const { trigger = 'auto', preTokens = 150_000, kept = [] } = choices
    const anchorUuid = this.ids(`s${(this.counters.get('s') ?? 0) + 1}`)
    const post = choices.postTokens === undefined ? {} : { postTokens: choices.postTokens }
    const compactMetadata = { trigger, preTokens, ...post, ...choices.metadata, ...preservedFields(kept, anchorUuid) }
    const logicalParentUuid = choices.logicalParent ?? kept.at(-1) ?? this.tip ?? 'none'
    const body = boundaryBody({ ...this.stamp('b', choices), style: this.style, compactMetadata })
    return this.add({ parent: null, ...choices }, body, { logicalParentUuid })
  }

  summary(text: string, choices: LineChoices = {}): this {
    return this.add(choices, this.userLine('s', choices, { content: text, flags: summaryFlags }))
  }

  attachment(kind: string, fields: JsonObject = {}, choices: LineChoices = {}): this {
    return this.add(choices, attachmentBody(this.stamp('t', choices), { type: kind, ...fields }))
  }

  progress(kind: string, fields: JsonObject = {}, choices: LineChoices = {}): this {
    const ids = { toolUseID: 'progress', parentToolUseID: 'progress' }
    return this.add(choices, progressBody(this.stamp('p', choices), { type: kind, ...fields }, ids))
  }

  system(subtype: string, fields: JsonObject = {}, choices: LineChoices = {}): this {
    return this.add(choices, systemBody(this.stamp('y', choices), subtype, fields))
  }

  /** A sub-agent's lines, with a root of their own. */
  sidechain(agentId: string, build: (agent: this) => void): this {
    const [tip, outer] = [this.tip, this.agentId]
    this.tip = null
    this.agentId = agentId
    build(this)
    this.tip = tip
    this.agentId = outer
    return this
  }

  /** Adds any record as it is. */
  raw(record: JsonObject): this {
    this.records.push(record)
    return this
  }

  wait(seconds: number): this {
    this.time += seconds * 1000
    return this
  }

  /** Sets the parent of the next line: a rewind or a branch. */
  from(uuid: string | null): this {
    this.tip = uuid
    return this
  }

  private add(choices: LineChoices, body: JsonObject, more: Pick<Place, 'logicalParentUuid'> = {}): this {
    const identity = {
      style: this.style,
      sessionId: this.sessionId,
      cwd: this.cwd,
      gitBranch: 'main',
      slug: 'calm-rowing-otter',
    }
    const place: Place = {
      parentUuid: choices.parent === undefined ? this.tip : choices.parent,
      ...more,
      ...(this.agentId === undefined ? {} : { sidechain: { agentId: this.agentId } }),
    }
    // Twice: the first keeps the client's key order, the second overrides the envelope.
    const record = { ...frame(identity, place, { ...body, ...choices.fields }), ...choices.fields }
    this.records.push(record)
    this.tip = uuidOf(record)
    return this
  }

  private userLine(
    letter: string,
    choices: LineChoices,
    parts: Pick<UserBody, 'content' | 'flags' | 'extra'>,
  ): JsonObject {
    const prompt = choices.promptId === undefined ? {} : { promptId: choices.promptId }
    return userBody({ ...this.stamp(letter, choices), style: this.style, ...prompt, ...parts })
  }

  private stamp(letter: string, choices: LineChoices) {
    this.time += 1000
    return { uuid: choices.uuid ?? this.number(letter), timestamp: new Date(this.time).toISOString() }
  }

  private number(letter: string): string {
    const count = (this.counters.get(letter) ?? 0) + 1
    this.counters.set(letter, count)
    return this.ids(`${letter}${count}`)
  }
}
