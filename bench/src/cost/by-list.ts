// A keeper over a plain list of messages, as most libraries have it: a rule changes the list, or only what is sent. What a
// refusal teaches is the same for all of them.
import type { Block, Message } from 'everlong'
import { blocksOf, isObject, isThinking, isToolResult, type JsonObject, repairRequest, textOf } from 'everlong/internal'
import { marked, markOf } from './marks.ts'
import { maxOutput } from './setup.ts'
import type { Keeper, Port, Refusal, Strategy } from './strategy.ts'

export type Seen = {
  readonly port: Port
  /** The tokens of the last request with its answer, as the API counted them. */
  readonly used: number
  /** A person has spoken and there is no answer yet. */
  readonly beginsTurn: boolean
}

type Change = (messages: readonly Message[], seen: Seen) => Promise<readonly Message[]> | readonly Message[]

export type ListHooks = {
  /** Changes the list permanently. Its result is kept. */
  readonly keep?: Change
  /** Changes only what is sent. */
  readonly send?: Change
}

export type ListRule = ListHooks & {
  readonly name: string
  readonly who: string
  /** For strategies with their own state per session. */
  readonly start?: (port: Port) => Promise<ListHooks>
  readonly fields?: JsonObject
  readonly betas?: readonly string[]
}

export function byList(rule: ListRule): Strategy {
  const { name, who, start } = rule
  return { name, who, open: async (port) => new ListKeeper({ ...rule, ...(await start?.(port)) }, port) }
}

/** A session ends after this many refusals in a row. */
const maxRefusals = 4

class ListKeeper implements Keeper {
  private messages: readonly Message[] = []
  private used = 0
  private readonly rule: ListRule
  private readonly port: Port

  constructor(rule: ListRule, port: Port) {
    this.rule = rule
    this.port = port
  }

  told = (message: Message): void => {
    this.messages = [...this.messages, message]
  }

  /** Undefined after too many refusals. */
  answer = async (): Promise<readonly Block[] | undefined> => {
    const { betas } = this.rule
    const headers = betas ? { 'anthropic-beta': betas.join(',') } : undefined
    for (let refusals = 0; refusals < maxRefusals; refusals++) {
      const posted = await this.port.post(await this.body(), headers)
      if ('answer' in posted) return this.answered(posted.answer)
      this.refused(posted.refusal)
    }
    return undefined
  }

  private answered(answer: JsonObject): readonly Block[] {
    const content = contentOf(answer)
    // At the very end of the window an answer can be empty, and an empty one may not be sent back.
    if (content.length > 0) this.messages = [...this.messages, { role: 'assistant', content }]
    this.used = usedBy(answer)
    const management = answer.context_management
    const applied =
      isObject(management) && Array.isArray(management.applied_edits) ? management.applied_edits.length : 0
    if (applied > 0) this.port.note('clearing')
    if (content.some(({ type }) => type === 'compaction')) this.port.note('compaction')
    return content
  }

  private async body(): Promise<JsonObject> {
    const { rule, port } = this
    const last = this.messages.at(-1)
    const seen = { port, used: this.used, beginsTurn: !blocksOf(last?.content).some(isToolResult) }
    if (rule.keep) this.messages = await rule.keep(this.messages, seen)
    const messages = rule.send ? await rule.send(this.messages, seen) : this.messages
    const { model, lifetime } = port.setup
    const system = [{ type: 'text', text: port.system, cache_control: markOf(lifetime) }]
    const head = { model, max_tokens: maxOutput, system, tools: port.tools }
    return { ...head, ...rule.fields, messages: marked(messages, lifetime) }
  }

  private refused(why: Refusal): void {
    if (why === 'overflow') this.messages = withoutOldest(this.messages, 0.5)
    else if (why === 'signature') this.messages = repairRequest(this.messages, { thinking: 'strip-all' }).messages
    else this.messages = repairRequest(this.messages).messages
  }
}

/** A library's own request to a model: with its own prompt, and paid like any other. */
export async function answerTo(port: Port, prompt: string, maxTokens: number): Promise<string> {
  const messages: readonly Message[] = [{ role: 'user', content: [{ type: 'text', text: prompt }] }]
  const posted = await port.post({ model: port.setup.model, max_tokens: maxTokens, messages })
  return 'answer' in posted ? textOf(contentOf(posted.answer)) : ''
}

function contentOf({ content }: JsonObject): readonly Block[] {
  return Array.isArray(content) ? (content as readonly Block[]) : []
}

function usedBy({ usage }: JsonObject): number {
  if (!isObject(usage)) return 0
  const names = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']
  return names.reduce((sum, name) => sum + (typeof usage[name] === 'number' ? usage[name] : 0), 0)
}

/** Removes the oldest messages, by characters, up to a place where a request may begin. */
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
