// Writes the records of a made-up session, in the format of Claude Code. Ids and times are counted, so that the same
// session always gives the same bytes.
type Json = Readonly<Record<string, unknown>>

export type Call = {
  readonly tool: string
  readonly input: Json
  readonly result: string
  readonly isError?: boolean
  /** Data that the client stores next to the result. */
  readonly raw?: unknown
}

const start = Date.UTC(2026, 4, 4, 8, 0)

export class Transcript {
  readonly records: Json[] = []
  private readonly place = {
    sessionId: '5e551011-0000-4000-8000-000000000000',
    cwd: '/home/dev/payments',
    gitBranch: 'idempotency',
    version: '2.1.0',
    isSidechain: false,
    userType: 'external',
  }

  user(text: string): this {
    return this.add('user', { message: { role: 'user', content: text } })
  }

  /** Typed while the agent was working. */
  queued(prompt: string): this {
    return this.add('attachment', { attachment: { type: 'queued_command', commandMode: 'prompt', prompt } })
  }

  agent(text: string, ...calls: readonly Call[]): this {
    const ids = calls.map((_, at) => `toolu_${this.records.length}_${at}`)
    const uses = calls.map(({ tool, input }, at) => ({ type: 'tool_use', id: ids[at], name: tool, input }))
    const message = {
      id: `msg_${this.records.length}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-6',
      content: [{ type: 'text', text }, ...uses],
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    }
    this.add('assistant', { message })
    for (const [at, { result, isError = false, raw }] of calls.entries()) {
      const block = { type: 'tool_result', tool_use_id: ids[at], content: result, is_error: isError }
      const toolUseResult = raw === undefined ? {} : { toolUseResult: raw }
      this.add('user', { message: { role: 'user', content: [block] }, ...toolUseResult })
    }
    return this
  }

  private add(type: string, body: Json): this {
    const number = this.records.length
    const id = (at: number) => `c0ffee00-0000-4000-8000-${String(at).padStart(12, '0')}`
    const time = new Date(start + number * 60_000).toISOString()
    const parentUuid = number === 0 ? null : id(number - 1)
    this.records.push({ parentUuid, ...this.place, type, ...body, uuid: id(number), timestamp: time })
    return this
  }
}
