// What a session puts back after its compactions: its state read off the conversation as it grows, the files it worked
// on, what was pinned, and what the host offers. It reads files through a port and changes nothing.
import { blocksOf, isToolResult, isToolUse, type ToolUseBlock, textOf } from '../message/block.ts'
import { dropOldest } from '../message/drop-oldest.ts'
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FileStore } from '../ports/files.ts'
import type { Restoration, RestoreRequest } from '../ports/restore.ts'
import { pinnedTitle } from '../restore/listed.ts'
import { restoreContext } from '../restore/restore.ts'
import type { SessionState } from '../restore/state.ts'
import { createStateBook, type StateBook } from '../restore/state-book.ts'
import { type TouchedFile, touchedFiles } from '../restore/touched.ts'
import { fileEventOf } from '../tokens/file-reads.ts'
import { readEdit } from '../transcript/edits.ts'
import type { Entry } from '../transcript/entry.ts'
import { messageOf } from '../transcript/messages.ts'
import type { Conversation } from './conversation.ts'

/** What the host knows and the conversation does not show: comes before what was read off the conversation. */
export type HostState = () => Partial<Omit<SessionState, 'pinned'>> | Promise<Partial<Omit<SessionState, 'pinned'>>>

export type RestoringInput = {
  readonly files: FileStore
  /** Only files that were touched since a person last spoke: what is put back stays, and an old file is soon read again. */
  readonly ofTurnOnly?: boolean
  readonly host?: HostState | undefined
  /** Every entry there ever was, for what is pinned and no longer held. */
  readonly entries: () => Iterable<Entry>
}

export type Restoring = {
  /** In the order of the transcript; `isLive` when it came while the session was open. */
  readonly add: (record: JsonObject, message: ViewMessage | undefined, how: { readonly isLive: boolean }) => void
  readonly restore: (request: RestoreRequest, conversation: Conversation) => Promise<Restoration>
  /** The file tracker is emptied, and holds what was put back. */
  readonly compacted: () => void
  /** Whether the session itself read this file while it was open: a transcript alone gives nobody permission. */
  readonly hasRead: (path: string) => boolean
}

export function createRestoring(input: RestoringInput): Restoring {
  return new Keeping(input)
}

const mostReadPaths = 1_000
const mostCalls = 256

class Keeping implements Restoring {
  private readonly input: RestoringInput
  private readonly book: StateBook = createStateBook()
  /** Pinned entries, with their words once they were looked up. */
  private readonly pins = new Map<string, string | undefined>()
  private readonly calls = new Map<string, ToolUseBlock>()
  private readonly read = new Set<string>()
  /** Files count from here on, and those that were put back. */
  private mark = -1
  private back: ReadonlySet<string> = new Set()
  private pending: { readonly mark: number; readonly back: ReadonlySet<string> } | undefined

  constructor(input: RestoringInput) {
    this.input = input
  }

  hasRead = (path: string): boolean => this.read.has(path)

  add = (record: JsonObject, message: ViewMessage | undefined, { isLive }: { readonly isLive: boolean }): void => {
    const edit = readEdit(record)
    if (edit?.type === 'pin') this.pins.set(edit.uuid, this.pins.get(edit.uuid))
    if (edit?.type === 'unpin') this.pins.delete(edit.uuid)
    this.noteRestored(objectAt(record, 'attachment'))
    if (!message) return
    this.book.add(message, record)
    if (isLive) this.noteReads(message)
  }

  restore = async (request: RestoreRequest, conversation: Conversation): Promise<Restoration> => {
    const ledger = conversation.ledger()
    const { kept, budget, countTokens, without } = request
    const host = (await this.input.host?.()) ?? {}
    const state = { ...this.book.state(), todos: ledger.todos, ...host, pinned: this.pinned(kept, conversation) }
    const { transcript } = conversation.place()
    const restored = await restoreContext(
      {
        files: this.input.files,
        countTokens,
        touched: this.tracked(conversation),
        kept,
        state,
        ...(transcript === undefined ? {} : { transcriptPath: transcript }),
      },
      // A list of the host's own stands in no summary.
      { budget, without: host.todos === undefined ? without : [] },
    )
    const back = restored.pieces.flatMap(({ kind, path }) => (kind === 'files' && path !== undefined ? [path] : []))
    this.pending = { mark: Math.max(-1, ...ledger.files.map(({ last }) => last)), back: new Set(back) }
    return restored
  }

  compacted = (): void => {
    if (!this.pending) return
    this.mark = this.pending.mark
    this.back = this.pending.back
    this.pending = undefined
  }

  private tracked({ ledger }: Conversation): readonly TouchedFile[] {
    const all = ledger()
    const asked = this.input.ofTurnOnly ? Math.max(-1, ...all.typed.map(({ last }) => last)) : -1
    return touchedFiles({
      ...all,
      files: all.files.filter(({ path, last }) => last > asked && (last > this.mark || this.back.has(path))),
    })
  }

  /** What was pinned and is not to be seen among the kept messages, word for word. */
  private pinned(kept: readonly ViewMessage[], conversation: Conversation): SessionState['pinned'] {
    const stays = new Set(kept.map(({ uuid }) => uuid))
    const unknown = [...this.pins].flatMap(([uuid, text]) => (text === undefined ? [uuid] : []))
    for (const [uuid, text] of this.wordsOf(unknown, conversation)) this.pins.set(uuid, text)
    return [...this.pins].flatMap(([uuid, text]) => (text === undefined || stays.has(uuid) ? [] : [{ uuid, text }]))
  }

  private wordsOf(uuids: readonly string[], { record }: Conversation): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    const take = (uuid: string, from: JsonObject | undefined) => {
      const message = from && messageOf(from)
      if (message) found.set(uuid, textOf(message.content))
    }
    for (const uuid of uuids) take(uuid, record(uuid))
    const far = new Set(uuids.filter((uuid) => !found.has(uuid)))
    if (far.size === 0) return found
    for (const entry of this.input.entries()) {
      const uuid = stringAt(entry.record, 'uuid')
      if (uuid !== undefined && far.has(uuid)) take(uuid, entry.record)
    }
    return found
  }

  /** A pin may lie further back than what was read when the session was opened; what was put back for it does not. */
  private noteRestored(attachment: JsonObject | undefined): void {
    const entry = stringAt(attachment, 'entry')
    const content = stringAt(attachment, 'content')
    if (attachment?.type !== 'pinned' || attachment.isRestored !== true) return
    if (entry === undefined || content === undefined || this.pins.get(entry) !== undefined) return
    this.pins.set(entry, content.startsWith(`${pinnedTitle}\n`) ? content.slice(pinnedTitle.length + 1) : content)
  }

  private noteReads(message: ViewMessage): void {
    for (const block of blocksOf(message.content)) {
      if (isToolUse(block)) this.calls.set(block.id, block)
      const call = isToolResult(block) ? this.calls.get(block.tool_use_id) : undefined
      if (!call || !isToolResult(block)) continue
      this.calls.delete(call.id)
      const event = fileEventOf({ call, result: block })
      if (event?.type === 'read') this.read.add(event.read.path)
    }
    // A call that was stopped gets no result.
    dropOldest(this.calls, mostCalls)
    dropOldest(this.read, mostReadPaths)
  }
}
