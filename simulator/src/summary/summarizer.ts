// The summarizing model: writes a nine-section summary from its input within its output limit, and always the same for the same
// request. With `forget` and `invent` it makes deliberate mistakes, so that a verifier has something to find.
import type { Block, Message } from 'everlong'
import { blocksOf, headOfText, isText, textOf } from 'everlong/internal'
import { type Random, type Seed, seededRandom } from '../script/random.ts'
import type { Answer, Script, ScriptRequest } from '../script/script.ts'
import { factsOf } from './extract.ts'
import { inventions } from './inventions.ts'
import { type Fact, renderSections } from './sections.ts'
import { conversationIn } from './told.ts'

export type SummarizerOptions = {
  /** The share of facts that it omits, from 0 to 1. */
  readonly forget?: number
  /** The number of facts that it invents. */
  readonly invent?: number
  readonly seed?: Seed
  /** Maximum tokens. The request's output limit applies as well. */
  readonly budget?: number
  /**
   * The last text asks for the summary, whatever its words: for server-side compaction, whose instructions the client
   * may write. Otherwise it counts as asking only when it sounds like it.
   */
  readonly lastTextAsks?: boolean
}

/** Answers every request with a summary of its messages, without the request for it. */
export function summarizer(options: SummarizerOptions = {}): Script {
  const seed = options.seed ?? 1
  return (request, context) => {
    const source = options.lastTextAsks ? withoutLastText(request.messages) : sourceOf(request)
    const budget = Math.min(request.maxTokens, options.budget ?? request.maxTokens)
    const known = factsOf(source).filter((fact) => remembered(fact, { seed, forget: options.forget ?? 0 }))
    const facts = [...inventions(seed, options.invent ?? 0), ...known]
    const write = (chosen: readonly Fact[]) => rendered(chosen, source)
    return fitted({ facts, budget, write, countTokens: context.countTokens })
  }
}

/** True if the last user message asks for a summary of the conversation. For a route to the summarizer. */
export function asksForSummary(request: Pick<ScriptRequest, 'messages'>): boolean {
  const last = request.messages.at(-1)
  return last?.role === 'user' && blocksOf(last.content).some(isInstruction)
}

/**
 * Asking for a summary is told from having one: the continuation after a compaction also speaks of a conversation and
 * its summary, and must go to the model that does the work. A prompt asks before it says anything else; a summary
 * begins with its sections, a continuation with where it comes from.
 */
function isInstruction(block: Block): boolean {
  if (!isText(block)) return false
  const asked = block.text.search(asking)
  const told = block.text.search(telling)
  if (asked < 0 || (told >= 0 && told < asked)) return false
  return /<\/?summary>|\bconversation\b|\btranscript\b|\bso far\b|\bcontext\b/i.test(block.text)
}

const asking =
  /\b(create|write|provide|produce|give|make|prepare|output|draft)\b[^.\n]{0,120}\bsummary\b|\bsummari[sz]e\b/i
const telling =
  /^[\s#*]*1\. Primary request and intent|\bcontinu\w+ from an? (previous|earlier)\b|\bcontext ran out\b|\bran out of context\b/im

/** The messages to summarize: all without the request for a summary, or the conversation inside that request. */
export function sourceOf(request: Pick<ScriptRequest, 'messages'>): readonly Message[] {
  const last = request.messages.at(-1)
  if (!last || !asksForSummary(request)) return request.messages
  const given = withLast(
    request.messages,
    blocksOf(last.content).filter((block) => !isInstruction(block)),
  )
  return given.length > 0 ? given : conversationIn(textOf(last.content))
}

function withoutLastText(messages: readonly Message[]): readonly Message[] {
  const blocks = blocksOf(messages.at(-1)?.content)
  const instruction = blocks.findLast(isText)
  return withLast(
    messages,
    blocks.filter((block) => block !== instruction),
  )
}

function withLast(messages: readonly Message[], content: readonly Block[]): readonly Message[] {
  const last = messages.at(-1)
  return [...messages.slice(0, -1), ...(last && content.length > 0 ? [{ ...last, content }] : [])]
}

/** Random by fact and seed, not by order, so that another fact does not change what else is forgotten. */
function remembered(fact: Fact, how: { readonly seed: Seed; readonly forget: number }): boolean {
  const random: Random = seededRandom('forget', how.seed, fact.section, fact.text)
  return random() >= how.forget
}

function rendered(facts: readonly Fact[], source: readonly Message[]): string {
  const count = (role: string) => source.filter((message) => message.role === role).length
  const analysis = `${count('user')} messages to the assistant, ${count('assistant')} answers; ${facts.length} facts kept.`
  return `<analysis>\n${analysis}\n</analysis>\n\n<summary>\n${renderSections(facts)}\n</summary>`
}

type Fitting = {
  readonly facts: readonly Fact[]
  readonly budget: number
  readonly write: (facts: readonly Fact[]) => string
  readonly countTokens: (text: string) => number
}

/**
 * The weightiest facts that fit. Counting each fact alone is an estimate, since tokens can span a border, so the whole
 * is counted at the end and facts are given up until it fits. Older user messages get half of the room at most.
 */
function fitted(fitting: Fitting): Answer {
  const { facts, budget, write, countTokens } = fitting
  const byWeight = facts.toSorted((a, b) => a.weight - b.weight)
  const chosen: Fact[] = []
  let room = budget - countTokens(write([]))
  let roomForOlder = room / 2
  for (const fact of byWeight) {
    const cost = countTokens(`- ${fact.text}\n`) + 1
    const isOlder = fact.section === 6 && fact.weight > 2.5
    if (cost > (isOlder ? Math.min(room, roomForOlder) : room)) continue
    room -= cost
    if (isOlder) roomForOlder -= cost
    chosen.push(fact)
  }
  for (;;) {
    const kept = new Set(chosen)
    const text = write(facts.filter((fact) => kept.has(fact)))
    if (countTokens(text) <= budget) return { content: [{ type: 'text', text }] }
    if (chosen.pop() === undefined) return cutOff(text, fitting)
  }
}

/** There is no room even for the headings, so it stops in the middle, like a model at its output limit. */
function cutOff(whole: string, fitting: Fitting): Answer {
  let text = whole
  while (text !== '' && fitting.countTokens(text) > fitting.budget)
    text = headOfText(text, Math.floor(text.length * 0.9))
  return { content: text === '' ? [] : [{ type: 'text', text }], stopReason: 'max_tokens' }
}
