// The files that a conversation worked on, newest first, read off its messages.
import type { Lines } from '../ledger/facts.ts'
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { NamedKinds } from '../tokens/tool-kinds.ts'
import { createFileWalk, type FileTouch } from './file-events.ts'
import { patchedFiles, replacementsOf } from './patch.ts'
import { pathKey } from './paths.ts'

export type TouchedFile = {
  readonly path: string
  readonly isEdited: boolean
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

/** Read or edited; deleted ones too, so that it can be said that they are gone. Found by a search is not enough. */
export function touchedFiles(
  messages: readonly ViewMessage[],
  { named, root, recordOf }: TouchedOptions = {},
): readonly TouchedFile[] {
  const walk = createFileWalk(named)
  const files = new Map<string, TouchedFile>()
  for (const message of messages) {
    const record = message.uuid === undefined ? undefined : recordOf?.(message.uuid)
    for (const touch of walk(message, record).touches) {
      const key = pathKey(touch.path, root)
      const file = afterTouch(files.get(key), touch)
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
