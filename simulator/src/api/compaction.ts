// Compaction on the server: when an edit's trigger is reached, and on demand. The summary comes from a script.
import type { Block } from 'everlong'
import { isObject, isText, isToolUse } from 'everlong/internal'
import { noSampling, type Sampling, samplingOf } from '../answer/usage.ts'
import { instructionsOf, scriptRequest, withInstruction } from '../context/script-view.ts'
import type { Messages } from '../context/view.ts'
import { type Overflow, overflowOf } from '../overflow/overflow.ts'
import { digestOf } from '../prompt/digest.ts'
import { buildPrompt } from '../prompt/prompt.ts'
import type { MessagesRequest } from '../request/request.ts'
import { editsOf } from '../rules/context-management.ts'
import type { Place } from '../thinking/binding.ts'
import type { Ports, RequestContext } from './world.ts'

export type Summary = {
  /** Undefined if the model wrote none: it called a tool, wrote no text or ran out of tokens. */
  readonly text: string | undefined
  readonly stopReason: string
  readonly sampling: Sampling
  /** The summarized prompt, without the instruction to summarize. */
  readonly before: Sampling
}

type Work = { readonly request: MessagesRequest; readonly messages: Messages; readonly ports: Ports }

export type EditCompaction = {
  readonly block: Block
  readonly sampling: Sampling
  readonly before: Sampling
  /** The messages that the model reads from here on. */
  readonly messages: Messages
  readonly pauses: boolean
}

const defaultTrigger = 150_000

/** Runs the compaction edit if there is one and its trigger is reached. */
export async function compactIfDue(
  work: Work,
  context: RequestContext,
): Promise<EditCompaction | Overflow | undefined> {
  const edit = editsOf(work.request).find((one) => one.type === 'compact_20260112')
  if (edit === undefined) return undefined
  const trigger = isObject(edit.trigger) && typeof edit.trigger.value === 'number' ? edit.trigger.value : defaultTrigger
  const { tokens } = buildPrompt(work.request, work.messages, work.ports)
  if (tokens < trigger) return undefined
  const overflow = promptOverflow(work.request, tokens)
  if (overflow !== undefined) return overflow
  const summary = await summarize(work, instructionsOf(edit), context)
  const content = summary.text ?? null
  const encrypted = content === null ? null : digestOf(`${work.request.model}\n${content}`)
  const block: Block = { type: 'compaction', content, encrypted_content: encrypted }
  return {
    block,
    sampling: summary.sampling,
    before: summary.before,
    messages: content === null ? work.messages : [{ role: 'assistant', index: 0, isString: false, content: [block] }],
    pauses: edit.pause_after_compaction === true && content !== null,
  }
}

function promptOverflow(request: MessagesRequest, tokens: number): Overflow | undefined {
  return overflowOf({ ...request, maxTokens: 0 }, tokens)
}

export type OnDemand = { readonly content: readonly Block[]; readonly stopReason: string; readonly sampling: Sampling }

export async function compactOnDemand(work: Work, place: Place, context: RequestContext): Promise<OnDemand | Overflow> {
  const { request, ports } = work
  const { tokens } = buildPrompt(request, work.messages, ports)
  const overflow = promptOverflow(request, tokens)
  if (overflow !== undefined) return overflow
  const instruction = instructionsOf(request.body.compaction)
  if (tokens + context.world.tokenizer.count(instruction) >= request.facts.window) {
    return { content: [], stopReason: 'model_context_window_exceeded', sampling: { ...noSampling, type: 'compaction' } }
  }
  const summary = await summarize(work, instruction, context)
  if (summary.text === undefined) return { content: [], stopReason: summary.stopReason, sampling: summary.sampling }
  const claim = { kind: 'compaction', prefix: place.prefix, text: digestOf(summary.text) } as const
  const block: Block = { type: 'compaction', content: summary.text, signature: ports.signer.sign(claim, '') }
  return { content: [block], stopReason: 'compaction', sampling: summary.sampling }
}

async function summarize(work: Work, instruction: string, context: RequestContext): Promise<Summary> {
  const { request, messages, ports } = work
  const { world, organization, started } = context
  const prompt = buildPrompt(request, messages, ports)
  const use = organization.cache.look(prompt, started, request.facts.cacheMinimum)
  const asked = scriptRequest(request, withInstruction(messages, instruction), request.maxTokens)
  const answer = await world.ask(world.options.summarizer, asked)
  organization.cache.commit(use, started)
  const whole = answer.content
    .filter(isText)
    .map((block) => block.text)
    .join('\n')
  const output = Math.max(1, world.tokenizer.count(whole))
  const input = use.input + world.tokenizer.count(instruction)
  const sampling = samplingOf('compaction', use, { input, output: Math.min(output, Math.max(1, request.maxTokens)) })
  const spent = { sampling, before: samplingOf('message', use, {}) }
  if (answer.content.some((block) => isToolUse(block) || block.type === 'tool_use')) {
    return { text: undefined, stopReason: 'tool_use', ...spent }
  }
  if (output > request.maxTokens) return { text: undefined, stopReason: 'max_tokens', ...spent }
  const text = betweenTags(whole)
  return { text: text === '' ? undefined : text, stopReason: answer.stopReason ?? 'end_turn', ...spent }
}

function betweenTags(text: string): string {
  return (/<summary>([\s\S]*?)<\/summary>/.exec(text)?.[1] ?? text).trim()
}
