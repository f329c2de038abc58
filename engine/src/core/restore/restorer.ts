// The seam of everything that is put back into the context after a compaction. A restorer never fails a compaction: what
// it cannot bring it names.
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FileStore } from '../ports/files.ts'
import type { Restored } from '../ports/restore.ts'
import type { NamedKinds } from '../tokens/tool-kinds.ts'
import type { SessionState } from './state.ts'
import type { TouchedFile } from './touched.ts'

export type RestoreInput = {
  readonly files: FileStore
  readonly countTokens: (text: string) => number
  /** Newest first. */
  readonly touched: readonly TouchedFile[]
  /** What stays word for word: nothing that is to be seen there is put back a second time. */
  readonly kept: readonly ViewMessage[]
  readonly state: SessionState
  /** The workspace's folder, to tell two spellings of one path. */
  readonly root?: string | undefined
  readonly recordOf?: ((uuid: string) => JsonObject | undefined) | undefined
  /** What the host says its tools are. */
  readonly named?: NamedKinds | undefined
  /** Where the transcript itself lies: a file that is never put back. */
  readonly transcriptPath?: string | undefined
}

export type Restorer = {
  readonly kind: string
  /** In tokens, for all of its pieces together. */
  readonly budget: number
  /** Brings no more than `room` tokens. */
  readonly restore: (input: RestoreInput, room: number) => Promise<Restored>
}
