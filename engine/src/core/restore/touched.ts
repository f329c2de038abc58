// The files that a conversation worked on, newest first, read off its messages.
import type { Lines } from '../ledger/facts.ts'
import { isForTheAgent, typedText } from '../ledger/user-words.ts'
import { textOf } from '../message/block.ts'
import type { JsonObject } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import type { NamedKinds } from '../tokens/tool-kinds.ts'
import { createFileWalk, type FileTouch } from './file-events.ts'
import { patchedFiles, replacementsOf } from './patch.ts'
import { pathKey } from './paths.ts'

export type TouchedFile = {
  readonly path: string
  readonly isEdited: boolean
  /** Touched last before the user spoke for the third-last time: probably not what is being worked on now. */
  readonly isEarlier?: true
  /** Texts that were put into it, newest last: where they stand now is where the work is. */
  readonly inserted: readonly string[]
  /** Lines that were read, newest last. */
  readonly seen: readonly Lines[]
}

export type TouchedOptions = {
  readonly named?: NamedKinds | undefined
  readonly root?: string | undefined
  readonly recordOf?: ((uuid: string) => JsonObject | undefined) | undefined
}

/** How many places in one file are remembered. */
const mostPlaces = 8

/** As many as the summary never shortens: a short reply goes on with what was asked before it. */
const openMessages = 3

function isSaid({ origin, content }: ViewMessage): boolean {
  return isRequest(origin) && isForTheAgent(typedText(textOf(content)))
}

/** Read or edited; deleted ones too, so that it can be said that they are gone. Found by a search is not enough. */
export function touchedFiles(
  messages: readonly ViewMessage[],
  { named, root, recordOf }: TouchedOptions = {},
): readonly TouchedFile[] {
  const walk = createFileWalk(named)
  const files = new Map<string, TouchedFile>()
  const openFrom = messages.filter(isSaid).at(-openMessages)
  let isOpen = openFrom === undefined
  for (const message of messages) {
    isOpen ||= message === openFrom
    const record = message.uuid === undefined ? undefined : recordOf?.(message.uuid)
    for (const touch of walk(message, record).touches) {
      const key = pathKey(touch.path, root)
      const file = { ...afterTouch(files.get(key), touch), ...(isOpen ? {} : { isEarlier: true as const }) }
      // Taken out first, so that the latest is the last.
      files.delete(key)
      files.set(key, file)
    }
  }
  return [...files.values()].toReversed()
}

function afterTouch(known: TouchedFile | undefined, touch: FileTouch): TouchedFile {
  const { isEdited = false, inserted = [], seen = [] } = known ?? {}
  const { path } = touch
  if (touch.type === 'attached') return { path, isEdited, inserted, seen }
  if (touch.type === 'read') return { path, isEdited, inserted, seen: [...seen, touch.lines].slice(-mostPlaces) }
  return { path, isEdited: true, inserted: [...inserted, ...insertedBy(touch)].slice(-mostPlaces), seen }
}

function insertedBy({ path, by }: Extract<FileTouch, { type: 'changed' }>): readonly string[] {
  const patched = patchedFiles(by.call.input).filter((file) => file.path === path)
  return [...replacementsOf(by.call.input), ...patched.flatMap(({ replacements }) => replacements)].map(
    ({ after }) => after,
  )
}
