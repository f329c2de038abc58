// What a restorer gets and returns. A restorer never fails a compaction: it names what it cannot restore.
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FileStore, NotRestored, Restored, RestoredPiece } from '../ports/restore.ts'
import type { NamedKinds, Todo } from '../tools/call.ts'
import type { TouchedFile } from './touched.ts'

/** A skill or, if its name starts with a slash, a slash command. */
export type Skill = {
  readonly name: string
  readonly path?: string
  readonly text: string
  /** It was invoked recently and is probably still in use. */
  readonly isRunning?: boolean
}

export type BackgroundAgent = {
  readonly id: string
  readonly type: string
  readonly description: string
  readonly state: 'running' | 'finished-unreported' | 'finished'
  /** The first line of what a finished one reported. */
  readonly result?: string
}

/** What a host knows about its session besides the conversation, and a compaction must not lose. */
export type SessionState = {
  /** Only a list of the host's own: the summary has the conversation's list. */
  readonly todos: readonly Todo[]
  readonly plan?: {
    readonly path?: string
    readonly text?: string
    readonly isOn: boolean
    /** How many times the user has spoken since it last changed. */
    readonly requestsSince?: number
  }
  /** Invoked in this session, latest first. */
  readonly skills: readonly Skill[]
  /** Running, not yet reported, or finished since the last compaction. */
  readonly agents: readonly BackgroundAgent[]
  /** Deferred tools as they were announced. */
  readonly deferredTools: readonly string[]
  readonly mcpInstructions: readonly {
    readonly name: string
    readonly text: string
    /** One of its tools was called in this session. */
    readonly isUsed?: boolean
  }[]
  /** Paths of rule files: AGENTS.md, CLAUDE.md and the like of touched folders. Read again from the store. */
  readonly memoryFiles: readonly string[]
  /** Whatever else the host offers: an editor's selection, open files. */
  readonly host: readonly { readonly title: string; readonly text: string; readonly budget: number }[]
  /** Pinned messages that the compaction takes out of the view. */
  readonly pinned: readonly { readonly uuid: string; readonly text: string }[]
}

export const pinnedTitle = 'Pinned message'

export const emptyState: SessionState = {
  todos: [],
  skills: [],
  agents: [],
  deferredTools: [],
  mcpInstructions: [],
  memoryFiles: [],
  host: [],
  pinned: [],
}

export type RestoreInput = {
  readonly files: FileStore
  readonly countTokens: (text: string) => number
  /** Newest first. */
  readonly touched: readonly TouchedFile[]
  /** Messages that are kept verbatim. What they show is not restored. */
  readonly kept: readonly ViewMessage[]
  readonly state: SessionState
  /** The workspace's folder, to recognize two spellings of one path. */
  readonly root?: string | undefined
  readonly recordOf?: ((uuid: string) => JsonObject | undefined) | undefined
  /** What the host says its tools are. */
  readonly named?: NamedKinds | undefined
  /** What is to be done next, as the summary and the user say: files that it names come first. */
  readonly next?: string | undefined
  /** Where the transcript itself is: a file that is never restored. */
  readonly transcriptPath?: string | undefined
}

export type Restorer = {
  readonly kind: string
  /** In tokens, for all of its pieces together. */
  readonly budget: number
  /** Restores no more than `room` tokens. */
  readonly restore: (input: RestoreInput, room: number) => Promise<Restored>
}

export type Titled = Omit<RestoredPiece, 'kind' | 'tokens'>

/** As many as fit, in the order given; the others are named. */
export function fitted(
  kind: string,
  items: readonly Titled[],
  { room, countTokens }: { readonly room: number } & Pick<RestoreInput, 'countTokens'>,
): Restored {
  const pieces: RestoredPiece[] = []
  const notRestored: NotRestored[] = []
  let left = room
  for (const item of items) {
    const tokens = countTokens(`${item.title}\n${item.text}`)
    if (tokens <= left) {
      pieces.push({ kind, ...item, tokens })
      left -= tokens
    } else
      notRestored.push({ kind, what: item.path ?? item.title, why: `it has ${tokens} tokens, and ${left} are left` })
  }
  return { pieces, notRestored }
}
