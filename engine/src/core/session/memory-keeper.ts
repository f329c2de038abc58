// Keeps the notes of one session up to date in the background: starts an extraction when one is due, one at a time, and counts
// its cost. session/summarize.ts compacts from the notes.
import { costOf } from '../cache/economics.ts'
import { emptyLedger } from '../ledger/facts.ts'
import { ledgerOfEntries } from '../ledger/ledger.ts'
import type { Extraction, MemoryProgress, SessionMemory } from '../memory/extract.ts'
import { renderNotes } from '../memory/notes.ts'
import type { MemoryDecline } from '../memory/plan.ts'
import { defined, errorText } from '../message/json.ts'
import { type Block, blocksOf, isToolResult, isToolUse } from '../message/message.ts'
import { noTokens } from '../message/usage.ts'
import type { Declined } from '../ports/outcome.ts'
import { compactionOff, defaultSettings } from '../settings/resolve.ts'
import type { Settings } from '../settings/table.ts'
import { createTextCounter } from '../tokens/estimate/counting.ts'
import type { View } from '../transcript/view/fold.ts'
import { type BackgroundWorker, type MemoryState, type Runtime, summarizer } from './runtime.ts'
import { buildRequest } from './turn.ts'

/** The keeper, or the reason why there are no notes. */
export type Memory = MemoryKeeper | Declined<MemoryDecline>

export type KeeperInput = { readonly settings?: Settings['sessionMemory']; readonly isResumed: boolean }

export class MemoryKeeper implements BackgroundWorker {
  readonly store: SessionMemory
  readonly settings: Settings['sessionMemory']
  private current: MemoryProgress
  private isFresh: boolean
  private running: Promise<void> | undefined
  private declined: Declined<MemoryDecline> | undefined
  private problem: string | undefined

  constructor(input: KeeperInput & { readonly store: SessionMemory }) {
    // Without settings, a keeper takes notes.
    const { store, settings = { ...defaultSettings.sessionMemory, isOn: true }, isResumed } = input
    this.store = store
    this.settings = settings
    // Failures of another process say nothing about this one.
    this.current = { ...store.progress(), failures: 0 }
    this.isFresh = isResumed
  }

  progress = (): MemoryProgress => this.current

  /** The conversation was opened again and nothing has been noted since. */
  isResumed = (): boolean => this.isFresh

  idle = async (): Promise<void> => {
    while (this.running) await this.running
  }

  afterAnswer(runtime: Runtime): void {
    this.startIfDue(runtime)
  }

  /** Between two rounds of tools no call is open. */
  beforeRequest(runtime: Runtime): void {
    if (newestBlocks(runtime).some(isToolResult)) this.startIfDue(runtime)
  }

  afterCompaction(tokens: number): void {
    this.current = afterCompaction(this.current, tokens)
    this.isFresh = false
    this.saveProgress()
  }

  /** Why a compaction did not use the notes; undefined when it did. */
  noteDeclined(declined: Declined<MemoryDecline> | undefined): void {
    this.declined = declined
  }

  state = (): MemoryState => {
    const { lastSeen, failures } = this.current
    return {
      isOn: this.settings.isOn,
      path: this.store.path,
      isExtracting: this.running !== undefined,
      hasStopped: failures >= maxExtractionFailures,
      ...defined({ lastSeen, declined: this.declined, problem: this.problem }),
    }
  }

  /** One at a time. An answer with tool calls is handled after their results have arrived. */
  private startIfDue(runtime: Runtime): void {
    const { conversation, gauge, closing } = runtime
    if (!this.settings.isOn || this.current.failures >= maxExtractionFailures || closing.signal.aborted) return
    // Only a compaction uses the notes.
    if (compactionOff(runtime) !== undefined) return
    const newest = newestBlocks(runtime)
    if (this.running || newest.some(isToolUse)) return
    const view = conversation.view()
    const { tokens } = gauge.size(view)
    const turn = { tokens, toolCalls: callsSince(view, this.current.lastSeen), hadToolCalls: newest.some(isToolResult) }
    if (!isDue(this.current, turn, this.settings)) return
    this.running = this.extract(runtime, view, tokens).then((isDone) => {
      this.running = undefined
      if (isDone) this.startIfDue(runtime)
    })
  }

  private async extract(runtime: Runtime, view: View, tokens: number): Promise<boolean> {
    const { conversation, gauge, ports, closing } = runtime
    const { signal } = closing
    const { name } = gauge.model()
    const before = this.current
    const countTokens = createTextCounter(gauge.counting())
    const model = summarizer(runtime)
    const extraction = await this.store
      .extract({
        conversation: buildRequest(runtime, view).request,
        messages: view.messages,
        // Only notes without a model are made from the ledger.
        ledger: model.capabilities(name).offline ? ledgerOfEntries(conversation.standing()) : emptyLedger,
        model,
        countTokens,
        redact: ports.redact,
        signal,
      })
      // An error of the store, such as a full disk, is a failed extraction.
      .catch((error: unknown): Extraction => ({ type: 'failed', reason: errorText(error), usage: noTokens }))
    // Closing the session is not a failure.
    if (signal.aborted) return false
    const { usage } = extraction
    if (extraction.type === 'failed') {
      this.current = afterFailure(this.current)
      ports.emit({ type: 'memory-failed', reason: extraction.reason, failures: this.current.failures, usage })
      return false
    }
    // If a compaction came in between, the last message it saw is no longer in the conversation.
    if (this.current === before) {
      this.current = afterExtraction({ tokens, lastSeen: view.sources.at(-1)?.uuids.at(-1) })
      this.isFresh = false
    } else this.current = { ...this.current, failures: 0 }
    this.saveProgress()
    const noted = countTokens(renderNotes(extraction.notes))
    ports.emit({ type: 'memory-extracted', tokens: noted, usage, ...defined({ cost: costOf(usage, name) }) })
    return true
  }

  /** For the next process. If it cannot be written, that one starts from the beginning. */
  private saveProgress(): void {
    try {
      if (this.store.notes()) this.store.saveProgress(this.current)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      this.problem = `How far the notes reach could not be written down: ${error.message}`
    }
  }
}

function newestBlocks({ conversation }: Runtime): readonly Block[] {
  return blocksOf(conversation.view().messages.at(-1)?.content)
}

/** The tool calls in the view that the notes do not cover. */
function callsSince({ messages, sources }: View, lastSeen: string | undefined): number {
  const seen = lastSeen === undefined ? -1 : sources.findIndex(({ uuids }) => uuids.includes(lastSeen))
  return messages.slice(seen + 1).flatMap(({ content }) => blocksOf(content).filter(isToolUse)).length
}

/** After this many failures in a row, this session takes no more notes. */
export const maxExtractionFailures = 3

export function isDue(
  progress: MemoryProgress,
  turn: {
    readonly tokens: number
    /** Since the last extraction. */
    readonly toolCalls: number
    readonly hadToolCalls: boolean
  },
  settings: Settings['sessionMemory'],
): boolean {
  if (!settings.isOn || progress.failures >= maxExtractionFailures) return false
  const due = progress.tokens === undefined ? settings.minTokens : progress.tokens + settings.growth
  return turn.tokens >= due && (turn.toolCalls >= settings.toolCalls || !turn.hadToolCalls)
}

type Extracted = { readonly tokens: number; readonly lastSeen: string | undefined }

export function afterExtraction({ tokens, lastSeen }: Extracted): MemoryProgress {
  return { tokens, ...defined({ lastSeen }), failures: 0 }
}

export function afterFailure(progress: MemoryProgress): MemoryProgress {
  return { ...progress, failures: progress.failures + 1 }
}

/** The context is small again and no longer contains the messages that the notes cover. */
export function afterCompaction(progress: MemoryProgress, tokens: number): MemoryProgress {
  const { lastSeen: _, ...rest } = progress
  return { ...rest, tokens }
}
