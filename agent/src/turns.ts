// Runs turns one after another. Messages that arrive during a turn wait for its next request. An interrupt stops the turn and
// returns the queued prompts.

import type { MessageInput } from 'everlong'
import type { AgentEvent, Prompt } from './app.ts'
import type { LoopEvent } from './events.ts'
import { reasonOf } from './reason-of.ts'

export type Turn = {
  readonly signal: AbortSignal
  /** Messages for the next request: queued prompts and news of background tasks. */
  readonly incoming: () => Promise<readonly MessageInput[]>
}

export type TurnsOptions = {
  readonly run: (turn: Turn) => AsyncIterable<LoopEvent>
  /** The messages of a prompt. Empty if a hook refused it, after informing the person. */
  readonly messagesFor: (prompt: Prompt, signal: AbortSignal) => Promise<readonly MessageInput[]>
  readonly emit: (event: AgentEvent) => void
  /** The queue changed, or a turn began or ended. */
  readonly onChange: () => void
  /** Called after an interrupted turn. */
  readonly onInterrupted: () => void
}

export class Turns {
  private readonly options: TurnsOptions
  private waiting: readonly Prompt[] = []
  private news: readonly MessageInput[] = []
  private current: { readonly stop: AbortController; readonly done: Promise<void> } | undefined

  constructor(options: TurnsOptions) {
    this.options = options
  }

  isBusy = (): boolean => this.current !== undefined
  queued = (): readonly Prompt[] => this.waiting

  /** Resolves when no turn runs. */
  submit = (prompt: Prompt): Promise<void> => {
    const { emit, onChange } = this.options
    if (this.current) emit({ type: 'prompt', prompt, isQueued: true })
    this.waiting = [...this.waiting, prompt]
    if (this.current) onChange()
    else this.start()
    return this.settled()
  }

  /** A message that nobody typed. It starts a turn if none runs. */
  tell = (message: MessageInput): Promise<void> => {
    this.news = [...this.news, message]
    if (!this.current) this.start()
    return this.settled()
  }

  takeQueued = (): readonly Prompt[] => {
    const back = this.waiting
    this.waiting = []
    if (back.length > 0) this.options.onChange()
    return back
  }

  interrupt = (): readonly Prompt[] => {
    this.current?.stop.abort()
    return this.takeQueued()
  }

  /** Stops, and waits for the end. */
  close = async (): Promise<void> => {
    this.waiting = []
    this.news = []
    this.current?.stop.abort()
    await this.current?.done
  }

  private async settled(): Promise<void> {
    while (this.current) await this.current.done
  }

  private start(): void {
    const stop = new AbortController()
    const done = this.work(stop.signal)
      .catch((error: unknown) => {
        this.options.emit({ type: 'notice', text: `The turn failed: ${reasonOf(error)}` })
      })
      .finally(() => {
        this.current = undefined
        // Messages may have arrived while the turn was ending. After an interrupt, news alone do not start a turn.
        if (this.waiting.length > 0 || (this.news.length > 0 && !stop.signal.aborted)) this.start()
        else this.options.onChange()
      })
    this.current = { stop, done }
    this.options.onChange()
  }

  private async work(signal: AbortSignal): Promise<void> {
    while ((this.waiting.length > 0 || this.news.length > 0) && !signal.aborted) {
      let first: readonly MessageInput[] | undefined = await this.incoming(signal)
      if (first.length === 0) continue
      const incoming = async () => {
        const messages = first ?? (await this.incoming(signal))
        first = undefined
        return messages
      }
      for await (const event of this.options.run({ signal, incoming })) this.options.emit(event)
    }
    if (signal.aborted) this.options.onInterrupted()
  }

  private async incoming(signal: AbortSignal): Promise<readonly MessageInput[]> {
    const { emit, messagesFor, onChange } = this.options
    const { waiting: prompts, news } = this
    this.waiting = []
    this.news = []
    if (prompts.length > 0) onChange()
    const messages: MessageInput[] = [...news]
    for (const prompt of prompts) {
      emit({ type: 'prompt', prompt, isQueued: false })
      messages.push(...(await messagesFor(prompt, signal)))
    }
    return messages
  }
}
