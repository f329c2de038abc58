// The files that a conversation has read, so that no file is changed unseen or after somebody else changed it, and no text is
// sent twice. One per session, because a sub-agent has not seen what its parent read.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { blocksOf, isText, isToolResult, objectAt, stringAt, textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'

/** A file as the conversation last saw it. Its result in the transcript has this, so that a continued session knows it. */
export type FileState = { readonly path: string; readonly hash: string }

type Seen = { readonly hash: string; readonly modified?: number; readonly size?: number }
type ShownFile = {
  readonly hash: string
  readonly toolUseId: string
  /** The name in the call. */
  readonly name: string
  readonly text: string
}

export type ReadFiles = {
  /** Notes the content of the file when the conversation reads or writes it. */
  readonly note: (path: string, bytes: Uint8Array | string) => Promise<FileState>
  /** Undefined while the file is unchanged; otherwise advice. */
  readonly problem: (path: string, shown: string) => Promise<string | undefined>
  readonly noteShown: (key: string, shown: ShownFile) => void
  /** Where the conversation still shows exactly this text. Undefined if it does not. */
  readonly stillShown: (key: string, hash: string) => string | undefined
}

export function hashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function createReadFiles(session: Session): ReadFiles {
  const seen = new Map<string, Seen>()
  const shown = new Map<string, ShownFile>()
  let earlier: Promise<ReadonlyMap<string, Seen>> | undefined
  const seenEarlier = async (path: string) => {
    earlier ??= statesIn(session)
    return (await earlier).get(path)
  }
  return {
    note: async (path, bytes) => {
      const { mtimeMs, size } = await stat(path)
      const hash = hashOf(bytes)
      seen.set(path, { hash, modified: mtimeMs, size })
      return { path, hash }
    },
    problem: async (path, name) => {
      const known = seen.get(path) ?? (await seenEarlier(path))
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

/** From the transcript: what was read and written before this process opened the session. */
async function statesIn(session: Session): Promise<ReadonlyMap<string, Seen>> {
  const states = new Map<string, Seen>()
  for (const { record } of await session.entries()) {
    const facts = objectAt(record, 'toolUseResult') ?? objectAt(objectAt(record, 'attachment'), 'toolUseResult')
    const state = objectAt(facts, 'fileState')
    const [path, hash] = [stringAt(state, 'path'), stringAt(state, 'hash')]
    if (path !== undefined && hash !== undefined) states.set(path, { hash })
  }
  return states
}

/** A compaction, a clearing, an undo or a rewind may have removed the result from the conversation. */
function isResultIn(session: Session, { toolUseId, text }: ShownFile): boolean {
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
function isAttachedIn(session: Session, { name, text }: ShownFile): boolean {
  const whole = ['\n\n# ', '\n</system-reminder>'].map((end) => `${fileTitle(name)}\n\n${text}${end}`)
  return session
    .messages()
    .some(({ content }) =>
      blocksOf(content).some((block) => isText(block) && whole.some((each) => block.text.includes(each))),
    )
}
