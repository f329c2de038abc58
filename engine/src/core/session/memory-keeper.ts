// Keeps the notes of one session up to date while work goes on: starts an extraction when one is due, one at a time,
// counts what it costs, and never disturbs the conversation. What becomes of the notes is the rung's business.
import { costOf } from '../cache/prices.ts'
import type { Extraction } from '../memory/extract.ts'
import { renderNotes } from '../memory/notes.ts'
import { defaultKeep, type MemoryDecline, type MemoryKeep } from '../memory/plan.ts'
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
import { noTokens, totalOf } from '../message/usage.ts'
import type { ModelRequest } from '../ports/model.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Beside } from './beside.ts'

export type MemoryChoices = Partial<MemorySettings> & { readonly keep?: Partial<MemoryKeep> }

export type MemoryDeclined = { readonly why: MemoryDecline; readonly detail: string }

/** Where there is no place for notes, the reason stands in the keeper's place. */
export type Memory = MemoryKeeper | MemoryDeclined

export function keeperOf(memory: Memory | undefined): MemoryKeeper | undefined {
  return memory && 'store' in memory ? memory : undefined
}

/** What explain() says about it. */
export type MemoryState = {
  readonly isOn: boolean
  readonly path?: string
  readonly isExtracting: boolean
  /** Three extractions in a row failed. */
  readonly hasStopped: boolean
  readonly lastSeen?: string
  /** Why the last compaction did not use the notes. */
  readonly declined?: MemoryDeclined
  readonly problem?: string
}

export type Moment = {
  readonly view: View
  /** Whether tools were called just before. */
  readonly hadToolCalls: boolean
  /** The conversation's own request of this view. */
  readonly request: () => ModelRequest
}

export type MemoryKeeper = {
  readonly store: SessionMemory
  readonly settings: MemorySettings
  readonly keep: MemoryKeep
  readonly progress: () => MemoryProgress
  /** The conversation was opened again, and nothing has been noted since. */
  readonly isResumed: () => boolean
  readonly countCalls: (calls: number) => void
  /** Starts an extraction if one is due. It is not waited for. */
  readonly look: (beside: Beside, moment: Moment) => void
  readonly compacted: (tokens: number) => void
  readonly noteDeclined: (declined: MemoryDeclined | undefined) => void
  readonly state: () => MemoryState
  /** When nothing is under way any more. */
  readonly idle: () => Promise<void>
}

export type KeeperInput = {
  readonly store: SessionMemory
  readonly choices?: MemoryChoices | undefined
  readonly isResumed: boolean
}

export function createMemoryKeeper(input: KeeperInput): MemoryKeeper {
  return new Keeper(input)
}

class Keeper implements MemoryKeeper {
  readonly store: SessionMemory
  readonly settings: MemorySettings
  readonly keep: MemoryKeep
  private current: MemoryProgress
  private isOpenedAgain: boolean
  private running: Promise<void> | undefined
  private next: { readonly beside: Beside; readonly moment: Moment; readonly tokens: number } | undefined
  private declined: MemoryDeclined | undefined
  private problem: string | undefined
  private compactions = 0

  constructor({ store, choices = {}, isResumed }: KeeperInput) {
    const { keep, ...settings } = choices
    this.store = store
    this.settings = { ...defaultMemory, ...settings }
    this.keep = { ...defaultKeep, ...keep }
    // Failures of another process say nothing about this one.
    this.current = { ...store.progress(), failures: 0 }
    this.isOpenedAgain = isResumed
  }

  progress = (): MemoryProgress => this.current
  isResumed = (): boolean => this.isOpenedAgain
  idle = async (): Promise<void> => {
    while (this.running) await this.running
  }

  countCalls = (calls: number): void => {
    const { toolCallsSince } = this.current
    this.current = { ...this.current, toolCallsSince: toolCallsSince + calls }
  }

  look = (beside: Beside, moment: Moment): void => {
    if (!this.settings.isOn || this.current.failures >= mostFailures || beside.signal.aborted) return
    this.lookAt(beside, moment, beside.tokens())
  }

  compacted = (tokens: number): void => {
    this.current = afterCompaction(this.current, tokens)
    this.isOpenedAgain = false
    this.compactions++
    this.next = undefined
    this.remember()
  }

  noteDeclined = (declined: MemoryDeclined | undefined): void => {
    this.declined = declined
  }

  state = (): MemoryState => {
    const { lastSeen, failures } = this.current
    return {
      isOn: this.settings.isOn,
      path: this.store.path,
      isExtracting: this.running !== undefined,
      hasStopped: failures >= mostFailures,
      ...(lastSeen === undefined ? {} : { lastSeen }),
      ...(this.declined ? { declined: this.declined } : {}),
      ...(this.problem === undefined ? {} : { problem: this.problem }),
    }
  }

  private lookAt(beside: Beside, moment: Moment, tokens: number): void {
    if (!isDue(this.current, { tokens, hadToolCalls: moment.hadToolCalls }, this.settings)) return
    // A newer trigger waits for the running one, and is looked at again then.
    if (this.running) this.next = { beside, moment, tokens }
    else if (!beside.signal.aborted) this.start(beside, moment, tokens)
  }

  private start(beside: Beside, moment: Moment, tokens: number): void {
    this.running = this.extract(beside, moment, tokens).finally(() => {
      this.running = undefined
      const { next } = this
      this.next = undefined
      if (next) this.lookAt(next.beside, next.moment, next.tokens)
    })
  }

  private async extract(beside: Beside, { request, view }: Moment, tokens: number): Promise<void> {
    const { signal, countTokens, emit } = beside
    const model = beside.model()
    const compactions = this.compactions
    const calls = this.current.toolCallsSince
    const extraction = await this.attempt({
      conversation: request(),
      messages: view.messages,
      ledger: beside.ledger(),
      model: beside.client(),
      countTokens,
      signal,
    })
    const { usage } = extraction
    if (totalOf(usage) > 0) beside.spend('session-memory', usage)
    // A session that is being closed is no failure.
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
      this.isOpenedAgain = false
    } else this.current = { ...this.current, failures: 0 }
    this.remember()
    const cost = totalOf(usage) === 0 ? undefined : costOf(usage, model)
    const noted = countTokens(renderNotes(extraction.notes))
    emit({ type: 'memory-extracted', tokens: noted, usage, ...(cost === undefined ? {} : { cost }) })
  }

  /** A disk that is full, a folder that cannot be written: it was tried, and it failed. */
  private async attempt(input: Parameters<SessionMemory['extract']>[0]): Promise<Extraction> {
    try {
      return await this.store.extract(input)
    } catch (error) {
      return { type: 'failed', reason: error instanceof Error ? error.message : String(error), usage: noTokens }
    }
  }

  /** For the next process. Where it cannot be written, that one begins anew. */
  private remember(): void {
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
