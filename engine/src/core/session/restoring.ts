// Restores context after a compaction: the session's state (read from the growing conversation), the files in use, pinned
// entries, and state that the host provides. Reads files through a port and changes nothing.

import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import { isRequest, textOf, type ViewMessage } from '../message/message.ts'
import type { FileStore, Restoration, RestoreRequest } from '../ports/restore.ts'
import { createStateBook, pinnedTitle, type SessionState, type StateBook } from '../restore/state-book.ts'
import type { NamedKinds } from '../tools/call.ts'
import { readEdit } from '../transcript/format/edits.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { messageOf } from '../transcript/format/messages.ts'
import type { Conversation, ConversationInput } from './conversation.ts'
import type { HostState } from './host.ts'

export type RestoringInput = {
  readonly files: FileStore
  /** Only files of the last turn with an answer, because restored context stays and an old file is soon read again. */
  readonly ofTurnOnly?: boolean
  readonly host?: HostState | undefined
  /** The workspace folder as the host names it. For a transcript that is only read, as the transcript names it. */
  readonly root?: () => string | undefined
  /** What the host's tools do, by name. */
  readonly named?: NamedKinds | undefined
  /** All entries of the session, for pinned ones that are no longer in memory. */
  readonly entries: ConversationInput['store']['entries']
}

type RestoredConversation = Pick<Conversation, 'view' | 'record'> & {
  readonly place: () => Pick<ReturnType<Conversation['place']>, 'transcript'>
}

export class Restoring {
  private readonly input: RestoringInput
  private book: StateBook = createStateBook()
  /** Pinned entries, with their text after it was looked up. */
  private readonly pins = new Map<string, string | undefined>()
  private hostPaths: ReadonlySet<string | undefined> = new Set()
  private rulePaths: ReadonlySet<string> = new Set()

  constructor(input: RestoringInput) {
    this.input = input
  }

  /** Files that may be read although no result showed them: those the host named, and rule files of the workspace. */
  permitted = (path: string): 'anywhere' | 'inside' | undefined => {
    if (this.hostPaths.has(path)) return 'anywhere'
    return this.rulePaths.has(path) ? 'inside' : undefined
  }

  /** Called for every entry, in the order of the transcript. */
  add = (record: JsonObject, message: ViewMessage | undefined): void => {
    const edit = readEdit(record)
    if (edit?.type === 'pin') this.pins.set(edit.uuid, this.pins.get(edit.uuid))
    if (edit?.type === 'unpin') this.pins.delete(edit.uuid)
    this.noteRestored(objectAt(record, 'attachment'))
    if (message) this.book.add(message, record)
  }

  /** Restarts with these messages. */
  readAgain = (entries: readonly Entry[]): void => {
    this.book = createStateBook()
    this.pins.clear()
    for (const { record } of entries) this.add(record, messageOf(record))
  }

  async restore(request: RestoreRequest, conversation: RestoredConversation): Promise<Restoration> {
    const { kept, budget, countTokens, next, isEarly } = request
    const { named, files, ofTurnOnly } = this.input
    const root = this.input.root?.()
    // Loaded with the first compaction.
    const { touchedFiles, isRuleFile, rulePlaces, restoreContext } = await import('./summarize.ts')
    const host = (await this.input.host?.()) ?? {}
    // Only the view counts: messages since the last compaction, and the context that it restored.
    const pieces = conversation.view().sources.flatMap((source) => source.pieces)
    const asked = ofTurnOnly || isEarly ? lastWorkedOn(pieces) : -1
    const touched = touchedFiles(pieces.slice(asked + 1), { root, named, recordOf: conversation.record })
    this.hostPaths = new Set([...(host.memoryFiles ?? []), host.plan?.path])
    const known = this.book.state()
    this.rulePaths = new Set([...rulePlaces(touched, root), ...known.memoryFiles.filter(isRuleFile)])
    const state = { ...known, ...host, pinned: await this.pinned(kept, conversation) }
    const { transcript: transcriptPath } = conversation.place()
    return restoreContext(
      { files, countTokens, touched, kept, next, state, root, named, recordOf: conversation.record, transcriptPath },
      { budget },
    )
  }

  /** The text of pinned entries that are not among the kept messages. */
  private async pinned(
    kept: readonly ViewMessage[],
    { record }: RestoredConversation,
  ): Promise<SessionState['pinned']> {
    const stays = new Set(kept.map(({ uuid }) => uuid))
    const isUnknown = (uuid: string) => this.pins.has(uuid) && this.pins.get(uuid) === undefined
    const look = (uuid: string, found: JsonObject | undefined) => {
      const message = found && messageOf(found)
      if (message) this.pins.set(uuid, textOf(message.content))
    }
    for (const uuid of this.pins.keys()) if (isUnknown(uuid)) look(uuid, record(uuid))
    if ([...this.pins.keys()].some(isUnknown)) {
      for (const entry of await this.input.entries()) {
        const uuid = stringAt(entry.record, 'uuid') ?? ''
        if (isUnknown(uuid)) look(uuid, entry.record)
      }
    }
    return [...this.pins].flatMap(([uuid, text]) => (text === undefined || stays.has(uuid) ? [] : [{ uuid, text }]))
  }

  /** The pinned entry may be older than everything that was read at the opening, but its restored copy is not. */
  private noteRestored(attachment: JsonObject | undefined): void {
    const entry = stringAt(attachment, 'entry')
    const content = stringAt(attachment, 'content')
    if (attachment?.type !== 'pinned' || attachment.isRestored !== true) return
    if (entry === undefined || content === undefined || this.pins.get(entry) !== undefined) return
    this.pins.set(entry, content.startsWith(`${pinnedTitle}\n`) ? content.slice(pinnedTitle.length + 1) : content)
  }
}

/** The newest request with an answer: the current turn, or between turns the one that just ended. */
function lastWorkedOn(pieces: readonly ViewMessage[]): number {
  const answered = pieces.findLastIndex(({ role }) => role === 'assistant')
  return pieces.findLastIndex(({ origin }, at) => at < answered && isRequest(origin))
}
