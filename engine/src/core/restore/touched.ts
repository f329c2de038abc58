// The files that messages worked on, newest first, and those that they show as they are now.
import { isForTheAgent, typedText } from '../ledger/user-words.ts'
import { textOf } from '../message/block.ts'
import type { JsonObject } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { type Lines, type NamedKinds, pathKey } from '../tools/call.ts'
import { createFileWalk, type FileNews, type FileTouch } from './file-events.ts'

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
export function touchedFiles(messages: readonly ViewMessage[], options: TouchedOptions = {}): readonly TouchedFile[] {
  const files = new Map<string, TouchedFile>()
  const openFrom = messages.filter(isSaid).at(-openMessages)
  const firstOpen = openFrom === undefined ? 0 : messages.indexOf(openFrom)
  for (const [at, { touches }] of newsOf(messages, options).entries()) {
    for (const touch of touches) {
      const key = pathKey(touch.path, options.root)
      const file = { ...afterTouch(files.get(key), touch), ...(at < firstOpen ? { isEarlier: true as const } : {}) }
      // Taken out first, so that the latest is the last.
      files.delete(key)
      files.set(key, file)
    }
  }
  return withoutRelative([...files.values()].toReversed())
}

/** A path as somebody in a folder further down would write it stands for the one file that it is the end of. */
function withoutRelative(files: readonly TouchedFile[]): readonly TouchedFile[] {
  const plain = (path: string) => path.replaceAll('\\', '/')
  const isAbsolute = (path: string) => /^(?:[/~\\]|[A-Za-z]:)/.test(path)
  const absolute = files.filter(({ path }) => isAbsolute(path)).map(({ path }) => ({ path, end: plain(path) }))
  const wholeOf = (path: string) => {
    const found = isAbsolute(path) ? [] : absolute.filter(({ end }) => end.endsWith(`/${plain(path)}`))
    return found.length === 1 ? (found[0]?.path ?? path) : path
  }
  const merged = new Map<string, TouchedFile>()
  for (const file of files) {
    const path = wholeOf(file.path)
    const newer = merged.get(path) ?? { ...file, isEdited: false, inserted: [], seen: [] }
    merged.set(path, {
      ...newer,
      path,
      isEdited: newer.isEdited || file.isEdited,
      inserted: [...file.inserted, ...newer.inserted].slice(-mostPlaces),
      seen: [...file.seen, ...newer.seen].slice(-mostPlaces),
    })
  }
  return [...merged.values()]
}

function newsOf(messages: readonly ViewMessage[], { named, recordOf }: TouchedOptions): readonly FileNews[] {
  const walk = createFileWalk(named)
  return messages.map((message) => walk(message, message.uuid === undefined ? undefined : recordOf?.(message.uuid)))
}

function afterTouch(known: TouchedFile | undefined, touch: FileTouch): TouchedFile {
  const { isEdited = false, inserted = [], seen = [] } = known ?? {}
  // The longer spelling says more.
  const path = known?.path.endsWith(touch.path) ? known.path : touch.path
  const lines = touch.type === 'read' && touch.lines ? [touch.lines] : []
  const texts = touch.type === 'changed' ? touch.edits.map(({ after }) => after) : []
  return {
    path,
    isEdited: isEdited || (touch.type === 'changed' && touch.by !== 'client'),
    inserted: [...inserted, ...texts].slice(-mostPlaces),
    seen: [...seen, ...lines].slice(-mostPlaces),
  }
}

/**
 * The files that are to be seen whole and as they are now, by their keys (`pathKey`). A pointer to an older read, a
 * cleared result, a part of a file, or a read of what was changed since does not count.
 */
export function visibleFiles(messages: readonly ViewMessage[], options: TouchedOptions = {}): ReadonlySet<string> {
  const visible = new Set<string>()
  for (const { touches, unsure } of newsOf(messages, options)) {
    for (const key of visible) if (unsure.some(({ mayChange }) => mayChange(key))) visible.delete(key)
    for (const touch of touches) {
      const key = pathKey(touch.path, options.root)
      if (touch.type === 'changed') visible.delete(key)
      else if (touch.isWhole) visible.add(key)
    }
  }
  return visible
}
