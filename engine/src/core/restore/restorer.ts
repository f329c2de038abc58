// What a restorer gets and returns. A restorer never fails a compaction: it names what it cannot restore.
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FileStore, NotRestored, Restored, RestoredPiece } from '../ports/restore.ts'
import type { PieceKind } from '../text/neutralize.ts'
import type { NamedKinds } from '../tools/call.ts'
import type { SessionState } from './state-book.ts'
import type { TouchedFile } from './touched.ts'

export const pinnedTitle = 'Pinned message'

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
  /** The next step, in the words of the summary and the user. Files that it names come first. */
  readonly next?: string | undefined
  /** Where the transcript itself is: a file that is never restored. */
  readonly transcriptPath?: string | undefined
}

export type Restorer = {
  /** Also the heading of its pieces. */
  readonly kind: PieceKind
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
