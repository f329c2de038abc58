// Keeps the notes of one session up to date in the background: starts an extraction when one is due, one at a time, and
// counts what it costs. ladder/compact-mechanism.ts compacts from the notes.
import type { Extraction } from '../memory/extract.ts'
import { renderNotes } from '../memory/notes.ts'
import { defaultKeep, type MemoryKeep } from '../memory/plan.ts'
import type { SessionMemory } from '../memory/store.ts'
import {
  afterCompaction,
  afterExtraction,
  afterFailure,
  defaultMemory,
  isDue,
  type MemoryProgress,
  type MemorySettings,
  mostFailures,
} from '../memory/trigger.ts'
import { blocksOf, isToolResult } from '../message/block.ts'
import { defined } from '../message/json.ts'
import { noTokens } from '../message/usage.ts'
import { errorText } from '../ports/guarded.ts'
import type { View } from '../transcript/view/fold.ts'
import type { BackgroundContext, BackgroundWorker, MemoryState } from './runtime.ts'
import type { MemoryChoices } from './settings.ts'

export type MemoryDeclined = NonNullable<MemoryState['declined']>

/** The keeper, or why there are no notes. */
export type Memory = MemoryKeeper | MemoryDeclined

/** A view in which an extraction was due. */
type Due = {
  readonly context: BackgroundContext
  readonly view: View
  readonly tokens: number
  readonly hadToolCalls: boolean
}

export class MemoryKeeper implements BackgroundWorker {
  readonly store: SessionMemory
  readonly settings: MemorySettings
  readonly keep: MemoryKeep
  private current: MemoryProgress
  private isFresh: boolean
  private running: Promise<void> | undefined
  private next: Due | undefined
  private declined: MemoryDeclined | undefined
  private problem: string | undefined
  private compactions = 0

  constructor(input: {
    readonly store: SessionMemory
    readonly choices?: MemoryChoices | undefined
    readonly isResumed: boolean
  }) {
    const { store, isResumed } = input
    const { keep, ...settings } = input.choices ?? {}
    this.store = store
    this.settings = { ...defaultMemory, ...settings }
    this.keep = { ...defaultKeep, ...keep }
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

  /** An answer that calls tools is looked at when their results are there. */
  afterAnswer(context: BackgroundContext, calls: number): void {
    this.countCalls(calls)
    if (calls === 0) this.look(context, { hadToolCalls: false })
  }

  /** Between two rounds of tools no call is open. */
  beforeRequest(context: BackgroundContext): void {
    if (blocksOf(context.view().messages.at(-1)?.content ?? []).some(isToolResult))
      this.look(context, { hadToolCalls: true })
  }

  afterCompaction(tokens: number): void {
    this.current = afterCompaction(this.current, tokens)
    this.isFresh = false
    this.compactions++
    this.next = undefined
    this.saveProgress()
  }

  /** Why a compaction did not use the notes; undefined when it did. */
  noteDeclined(declined: MemoryDeclined | undefined): void {
    this.declined = declined
  }

  state = (): MemoryState => {
    const { lastSeen, failures } = this.current
    return {
      isOn: this.settings.isOn,
      path: this.store.path,
      isExtracting: this.running !== undefined,
      hasStopped: failures >= mostFailures,
      ...defined({ lastSeen, declined: this.declined, problem: this.problem }),
    }
  }

  private countCalls(calls: number): void {
    this.current = { ...this.current, toolCallsSince: this.current.toolCallsSince + calls }
  }

  private look(context: BackgroundContext, { hadToolCalls }: Pick<Due, 'hadToolCalls'>): void {
    if (!this.settings.isOn || this.current.failures >= mostFailures || context.signal.aborted) return
    this.startIfDue({ context, view: context.view(), tokens: context.tokens(), hadToolCalls })
  }

  private startIfDue(due: Due): void {
    const { context, tokens, hadToolCalls } = due
    if (!isDue(this.current, { tokens, hadToolCalls }, this.settings) || context.signal.aborted) return
    // The newest trigger waits for the running extraction and is checked again then.
    if (this.running) this.next = due
    else
      this.running = this.extract(due).finally(() => {
        this.running = undefined
        const { next } = this
        this.next = undefined
        if (next) this.startIfDue(next)
      })
  }

  private async extract({ context, view, tokens }: Due): Promise<void> {
    const { signal, countTokens, emit } = context
    const model = context.model()
    const compactions = this.compactions
    const calls = this.current.toolCallsSince
    const extraction = await this.store
      .extract({
        conversation: context.requestFor(view),
        messages: view.messages,
        ledger: context.ledger(),
        model: context.client(),
        countTokens,
        signal,
      })
      // An error of the store, such as a full disk, is a failed extraction.
      .catch((error: unknown): Extraction => ({ type: 'failed', reason: errorText(error), usage: noTokens }))
    const { usage } = extraction
    const cost = context.addUsage('session-memory', usage, model)
    // Closing the session is not a failure.
    if (signal.aborted) return
    if (extraction.type === 'failed') {
      this.current = afterFailure(this.current)
      emit({ type: 'memory-failed', reason: extraction.reason, failures: this.current.failures, usage })
      return
    }
    if (compactions === this.compactions) {
      const meanwhile = this.current.toolCallsSince - calls
      this.current = afterExtraction({ tokens, lastSeen: view.sources.at(-1)?.uuids.at(-1) })
      this.countCalls(meanwhile)
      this.isFresh = false
    } else this.current = { ...this.current, failures: 0 }
    this.saveProgress()
    const noted = countTokens(renderNotes(extraction.notes))
    emit({ type: 'memory-extracted', tokens: noted, usage, ...defined({ cost }) })
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

export function memoryState(memory: Memory): MemoryState {
  return 'store' in memory ? memory.state() : { isOn: false, isExtracting: false, hasStopped: false, declined: memory }
}
