// Where the words of a summary come from: a hook, a model, or nobody; then the summary is made of what code can read.
import type { Block } from '../message/block.ts'
import type { HookOutcome } from '../ports/hooks.ts'
import type { ModelRequest } from '../ports/model.ts'
import { type SummaryJob, summarise } from '../summary/summarise.ts'
import type { CompactionInput } from './compact-input.ts'
import type { CompactionParts } from './compact-parts.ts'
import { Ended, enter, isSaid, mayGoOn, note, type Run } from './compact-run.ts'

export type Prose = {
  readonly text: string | undefined
  readonly mechanism: string
  readonly model?: string
  readonly hitRate?: number
  /** What the provider's own compaction gave back. */
  readonly block?: Block
  /** It was there before, and is taken as it is. */
  readonly isGiven?: boolean
}

export type ProseInput = {
  readonly parts: CompactionParts
  readonly instructions: string
  readonly hooks: HookOutcome
}

export async function getProse(run: Run, { parts, instructions, hooks }: ProseInput): Promise<Prose> {
  enter(run, 'summarising')
  if (hooks.summary !== undefined && isSaid(hooks.summary)) {
    note(run, { mechanism: 'hook', outcome: 'done', why: 'a hook gave the summary' })
    return { text: hooks.summary, mechanism: 'hook' }
  }
  const { given } = run.input
  if (given) {
    note(run, { mechanism: given.mechanism, outcome: 'done', why: given.why })
    return { text: given.text, mechanism: given.mechanism, isGiven: true }
  }
  const model = summariserOf(run)
  // A recorded model needs no network either, but it has something to say.
  if (run.ports.model.provider === 'offline') return offline(run, 'no model is asked')
  const result = await summarise(jobOf(run, { parts, instructions, model }), run.ports, run.signal)
  run.tried.push(...result.tried)
  run.usage = result.usage
  if (result.type === 'aborted') throw new Ended('aborted', 'It was stopped.')
  mayGoOn(run)
  if (result.type === 'prose') {
    const { text, mechanism, model: by, hitRate, block } = result
    return { text, mechanism, model: by, ...(hitRate === undefined ? {} : { hitRate }), ...(block ? { block } : {}) }
  }
  const mayBe = run.settings.offline
  if (mayBe === 'never' || (mayBe === 'overflow' && result.reason !== 'prompt_too_long')) {
    throw new Ended(result.reason, result.why)
  }
  return offline(run, `no model could write it: ${result.why}`)
}

export function summariserOf({ settings, input, ports }: Run): string {
  return settings.model ?? input.conversation?.model ?? ports.model.model
}

function offline(run: Run, why: string): Prose {
  note(run, { mechanism: 'offline', outcome: 'done', why })
  return { text: undefined, mechanism: 'offline' }
}

function jobOf(
  { input, settings, ports }: Run,
  { parts, instructions, model }: Pick<ProseInput, 'parts' | 'instructions'> & { readonly model: string },
): SummaryJob {
  const isSame = model === input.conversation?.model
  const { promptCache, compaction } = ports.model.capabilities(model)
  const isShared = settings.shareCache && isSame && promptCache
  return {
    pieces: parts.summarised,
    retained: parts.variant === 'from' ? parts.kept : [],
    variant: parts.variant,
    instructions,
    conversation: isShared ? ownRequest(input, parts) : undefined,
    isOnDemand: settings.serverCompaction === 'on-demand' && compaction === 'on-demand',
    model,
    counting: { ...input.counting, model },
  }
}

/** up-to: as far as the cut, where the conversation's messages are those of the view; elsewhere the cache is of no use. */
function ownRequest({ conversation, view }: CompactionInput, parts: CompactionParts): ModelRequest | undefined {
  if (!conversation || parts.variant !== 'up-to') return conversation
  const isView = conversation.messages.length === view.messages.length
  if (!isView || parts.cutMessage === undefined) return undefined
  return { ...conversation, messages: conversation.messages.slice(0, parts.cutMessage) }
}
