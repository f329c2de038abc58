// The files that a conversation has read, so that no file is changed unseen or after somebody else changed it, and no text is
// sent twice. One per session, because a sub-agent has not seen what its parent read.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { blocksOf, isText, isToolResult, textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'

type Seen = { readonly hash: string; readonly modified: number; readonly size: number }
type Shown = {
  readonly hash: string
  readonly toolUseId: string
  /** The name in the call. */
  readonly name: string
  readonly text: string
}

export type ReadFiles = {
  /** Notes the content of the file when the conversation reads or writes it. */
  readonly note: (path: string, bytes: Uint8Array | string) => Promise<void>
  readonly has: (path: string) => boolean
  /** Undefined while the file is unchanged; otherwise advice. */
  readonly problem: (path: string, shown: string) => Promise<string | undefined>
  readonly noteShown: (key: string, shown: Shown) => void
  /** Where the conversation still shows exactly this text. Undefined if it does not. */
  readonly stillShown: (key: string, hash: string) => string | undefined
}

export function hashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function createReadFiles(session: Session): ReadFiles {
  const seen = new Map<string, Seen>()
  const shown = new Map<string, Shown>()
  return {
    note: async (path, bytes) => {
      const { mtimeMs, size } = await stat(path)
      seen.set(path, { hash: hashOf(bytes), modified: mtimeMs, size })
    },
    has: (path) => seen.has(path),
    problem: async (path, name) => {
      const known = seen.get(path)
      if (!known) return `${name} has not been read in this conversation. Read it first, then change it.`
      const { mtimeMs, size } = await stat(path)
      if (mtimeMs === known.modified && size === known.size) return undefined
      // Only touched, or written with the same text.
      if (hashOf(await readFile(path)) === known.hash) return undefined
      return `${name} has changed since it was read, by the user, a command or another program. Read it again, then change it.`
    },
    noteShown: (key, what) => shown.set(key, what),
    stillShown: (key, hash) => {
      const found = shown.get(key)
      if (found?.hash !== hash) return undefined
      if (isResultIn(session, found)) return `in the result of that call (${found.toolUseId})`
      return isAttachedIn(session, found) ? 'attached to a message of the user' : undefined
    },
  }
}

/** A compaction, a clearing, an undo or a rewind may have removed the result from the conversation. */
function isResultIn(session: Session, { toolUseId, text }: Shown): boolean {
  return session
    .messages()
    .some(({ content }) =>
      blocksOf(content).some(
        (block) => isToolResult(block) && block.tool_use_id === toolUseId && textOf(block.content) === text,
      ),
    )
}

/** The first line of an attached file. */
export function fileTitle(name: string): string {
  return `The file ${name}, which the user named:`
}

/** The next attachment or the end of the frame must follow, because a longer text of the same file is a different text. */
function isAttachedIn(session: Session, { name, text }: Shown): boolean {
  const whole = ['\n\n# ', '\n</system-reminder>'].map((end) => `${fileTitle(name)}\n\n${text}${end}`)
  return session
    .messages()
    .some(({ content }) =>
      blocksOf(content).some((block) => isText(block) && whole.some((each) => block.text.includes(each))),
    )
}
