// A keeper over a plain list of messages, as most libraries have it: a rule changes the list, or only what is sent. What a
// refusal teaches is the same for all of them.
import { blocksOf, isObject, isThinking, isToolResult, type JsonObject, type Message, repairRequest } from 'everlong'
import type { Keeper, Outgoing, Port, Refusal, Strategy } from './strategy.ts'

export type Seen = {
  readonly port: Port
  /** The tokens of the last request with its answer, as the API counted them. */
  readonly used: number
  /** A person has spoken and no answer was given yet. */
  readonly beginsTurn: boolean
}

export type ListRule = {
  readonly name: string
  readonly who: string
  /** Changes the list for good; what it returns is what is kept. */
  readonly keep?: (messages: readonly Message[], seen: Seen) => Promise<readonly Message[]> | readonly Message[]
  /** Changes what is sent, and nothing else. */
  readonly send?: (messages: readonly Message[], seen: Seen) => Promise<readonly Message[]> | readonly Message[]
  readonly fields?: JsonObject
  readonly betas?: readonly string[]
}

export function byList(rule: ListRule): Strategy {
  return { name: rule.name, who: rule.who, open: (port) => new ListKeeper(rule, port) }
}

class ListKeeper implements Keeper {
  private messages: readonly Message[] = []
  private used = 0
  private readonly rule: ListRule
  private readonly port: Port

  constructor(rule: ListRule, port: Port) {
    this.rule = rule
    this.port = port
  }

  told(message: Message): void {
    this.messages = [...this.messages, message]
  }

  answered(answer: JsonObject): void {
    const content = Array.isArray(answer.content) ? answer.content : []
    // At the very end of the window an answer can be empty, and an empty one may not be sent back.
    if (content.length > 0) this.messages = [...this.messages, { role: 'assistant', content }]
    this.used = usedBy(answer)
    const management = answer.context_management
    const applied =
      isObject(management) && Array.isArray(management.applied_edits) ? management.applied_edits.length : 0
    if (applied > 0) this.port.note('clearing')
    if (content.some((block) => isObject(block) && block.type === 'compaction')) this.port.note('compaction')
  }

  async next(): Promise<Outgoing> {
    const { rule, port } = this
    const last = this.messages.at(-1)
    const seen = { port, used: this.used, beginsTurn: !blocksOf(last?.content).some(isToolResult) }
    if (rule.keep) this.messages = await rule.keep(this.messages, seen)
    const messages = rule.send ? await rule.send(this.messages, seen) : this.messages
    return {
      messages,
      ...(rule.fields ? { fields: rule.fields } : {}),
      ...(rule.betas ? { headers: { 'anthropic-beta': rule.betas.join(',') } } : {}),
    }
  }

  async refused(why: Refusal): Promise<void> {
    if (why === 'overflow') this.messages = withoutOldest(this.messages, 0.5)
    else if (why === 'signature') this.messages = repairRequest(this.messages, { thinking: 'strip-all' }).messages
    else this.messages = repairRequest(this.messages).messages
  }
}

function usedBy({ usage }: JsonObject): number {
  if (!isObject(usage)) return 0
  const names = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']
  return names.reduce((sum, name) => sum + (typeof usage[name] === 'number' ? usage[name] : 0), 0)
}

/** Cuts the oldest away, by characters, where a request may begin. */
export function withoutOldest(messages: readonly Message[], share: number): readonly Message[] {
  const sizes = messages.map(sizeOf)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let gone = 0
  const from = messages.findIndex((message, at) => {
    const canBegin = message.role === 'user' && !blocksOf(message.content).some(isToolResult)
    if (canBegin && gone >= total * share) return true
    gone += sizes[at] ?? 0
    return false
  })
  // Within one long turn there is no such place: what is left begins with an answer, and the repair says so.
  const cut = from > 0 ? from : Math.max(1, Math.floor(messages.length * share))
  return repairRequest(messages.slice(cut)).messages
}

export function sizeOf({ content }: Message): number {
  return JSON.stringify(blocksOf(content).filter((block) => !isThinking(block))).length
}
