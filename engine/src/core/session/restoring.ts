// What a session puts back after its compactions: its state read off the conversation as it grows, the files it worked
// on, what was pinned, and what the host offers. It reads files through a port and changes nothing.

import { piecesOf } from '../compaction/select.ts'
import { textOf } from '../message/block.ts'
import { isObject, type JsonObject, objectAt, stringAt } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import type { FileStore } from '../ports/files.ts'
import { describeValue, type Guard } from '../ports/guarded.ts'
import type { Restoration, RestoreRequest } from '../ports/restore.ts'
import { rulePlaces } from '../restore/from-disk.ts'
import { pinnedTitle } from '../restore/listed.ts'
import { restoreContext } from '../restore/restore.ts'
import type { SessionState } from '../restore/restorer.ts'
import { createStateBook, type StateBook } from '../restore/state-book.ts'
import { type TouchedFile, touchedFiles } from '../restore/touched.ts'
import type { NamedKinds } from '../tools/call.ts'
import { readEdit } from '../transcript/format/edits.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { messageOf } from '../transcript/format/messages.ts'
import type { Conversation } from './conversation.ts'

type Offered = Partial<Omit<SessionState, 'pinned'>>

/** What the host knows and the conversation does not show: comes before what was read off the conversation. */
export type HostState = () => Offered | Promise<Offered>

/** What the host says, as far as it can be read: a field of the wrong shape counts as not given, and is reported. */
export function guardedState(host: HostState, guard: Guard): HostState {
  return async () => {
    const called = await guard.call<unknown>('state', host)
    if (called.type !== 'returned' || called.value === undefined) return {}
    if (!isObject(called.value)) {
      guard.report('state', `returned ${describeValue(called.value)}`)
      return {}
    }
    const { plan, ...lists } = called.value
    const wrong = Object.keys(lists).filter((name) => lists[name] !== undefined && !Array.isArray(lists[name]))
    if (plan !== undefined && !isObject(plan)) wrong.push('plan')
    if (wrong.length > 0) guard.report('state', `fields of the wrong shape: ${wrong.join(', ')}`)
    const isFine = ([name, value]: readonly [string, unknown]) => value !== undefined && !wrong.includes(name)
    return Object.fromEntries(Object.entries(called.value).filter(isFine))
  }
}

export type RestoringInput = {
  readonly files: FileStore
  /** Only files of the turn that was last worked in: what is put back stays, and an old file is soon read again. */
  readonly ofTurnOnly?: boolean
  readonly host?: HostState | undefined
  /** The workspace's folder, as the host says. */
  readonly root?: string | undefined
  /** What the host says its tools are. */
  readonly named?: NamedKinds | undefined
  /** Every entry there ever was, for what is pinned and no longer held. */
  readonly entries: () => Iterable<Entry>
}

export type Restoring = {
  /** In the order of the transcript. */
  readonly add: (record: JsonObject, message: ViewMessage | undefined) => void
  /** Forgets what was added, and reads these instead. */
  readonly readAgain: (entries: readonly Entry[]) => void
  readonly restore: (request: RestoreRequest, conversation: Conversation) => Promise<Restoration>
  /** What may be read though no result showed it: what the host named, and rules that lie beside the files at work. */
  readonly permitted: (path: string) => 'anywhere' | 'inside' | undefined
}

export function createRestoring(input: RestoringInput): Restoring {
  return new Keeping(input)
}

class Keeping implements Restoring {
  private readonly input: RestoringInput
  private book: StateBook = createStateBook()
  /** Pinned entries, with their words once they were looked up. */
  private readonly pins = new Map<string, string | undefined>()
  private named: ReadonlySet<string> = new Set()
  private beside: ReadonlySet<string> = new Set()

  constructor(input: RestoringInput) {
    this.input = input
  }

  permitted = (path: string): 'anywhere' | 'inside' | undefined => {
    if (this.named.has(path)) return 'anywhere'
    return this.beside.has(path) ? 'inside' : undefined
  }

  add = (record: JsonObject, message: ViewMessage | undefined): void => {
    const edit = readEdit(record)
    if (edit?.type === 'pin') this.pins.set(edit.uuid, this.pins.get(edit.uuid))
    if (edit?.type === 'unpin') this.pins.delete(edit.uuid)
    this.noteRestored(objectAt(record, 'attachment'))
    if (message) this.book.add(message, record)
  }

  readAgain = (entries: readonly Entry[]): void => {
    this.book = createStateBook()
    this.pins.clear()
    for (const { record } of entries) this.add(record, messageOf(record))
  }

  restore = async (request: RestoreRequest, conversation: Conversation): Promise<Restoration> => {
    const { kept, budget, countTokens, without } = request
    const { root, named, files } = this.input
    const host = (await this.input.host?.()) ?? {}
    const touched = this.touched(conversation)
    this.named = new Set([...(host.memoryFiles ?? []), ...(host.plan?.path === undefined ? [] : [host.plan.path])])
    this.beside = new Set(rulePlaces(touched, root))
    const state = {
      ...this.book.state(conversation.ledger().todos),
      ...host,
      pinned: this.pinned(kept, conversation),
    }
    return restoreContext(
      {
        files,
        countTokens,
        touched,
        kept,
        state,
        root,
        named,
        recordOf: conversation.record,
        transcriptPath: conversation.place().transcript,
      },
      // A list of the host's own stands in no summary.
      { budget, without: host.todos === undefined ? without : [] },
    )
  }

  /** The view holds what came since the last compaction, and what that put back: no more counts. */
  private touched({ view, record }: Conversation): readonly TouchedFile[] {
    const pieces = piecesOf(view())
    const asked = this.input.ofTurnOnly ? lastWorkedOn(pieces) : -1
    const { root, named } = this.input
    return touchedFiles(pieces.slice(asked + 1), { root, named, recordOf: record })
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
}

/** The newest request that has an answer: the turn at hand, or between turns the one that has just ended. */
function lastWorkedOn(pieces: readonly ViewMessage[]): number {
  const answered = pieces.findLastIndex(({ role }) => role === 'assistant')
  return pieces.findLastIndex(({ origin }, at) => at < answered && isRequest(origin))
}
