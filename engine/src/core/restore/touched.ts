// The files that messages worked on, newest first, and the files whose current content they show.
import { commitsIn } from '../ledger/git.ts'
import { isForTheAgent, typedText } from '../ledger/user-words.ts'
import type { JsonObject } from '../message/json.ts'
import { blocksOf, isRequest, isToolResult, textOf, type ViewMessage } from '../message/message.ts'
import { type Lines, type NamedKinds, pathKey } from '../tools/call.ts'
import { createFileWalk, type FileNews, type FileTouch } from './file-events.ts'

export type TouchedFile = {
  readonly path: string
  readonly isEdited: boolean
  /** Last touched before the user's third-last message or before the last commit, so probably no longer in use. */
  readonly isEarlier?: true
  /** Inserted texts, newest last. Their current places show where the work is. */
  readonly inserted: readonly string[]
  /** Lines that were read, newest last. */
  readonly seen: readonly Lines[]
}

export type TouchedOptions = {
  readonly named?: NamedKinds | undefined
  readonly root?: string | undefined
  readonly recordOf?: ((uuid: string) => JsonObject | undefined) | undefined
}

/** Number of places remembered per file. */
const maxPlaces = 8

/** The summary never shortens this many messages of the user: a short reply continues the request before it. */
const openMessages = 3

function isSaid({ origin, content }: ViewMessage): boolean {
  return isRequest(origin) && isForTheAgent(typedText(textOf(content)))
}

/** True for a result with "[main 1a2b3c4] Open the gate". */
function isCommit({ origin, content }: ViewMessage): boolean {
  if (origin !== 'tool-result') return false
  return blocksOf(content).some((block) => isToolResult(block) && commitsIn(textOf(block.content)).length > 0)
}

/** Files that were read or edited. Includes deleted files, so that the agent learns they are gone. A search result is not enough. */
export function touchedFiles(messages: readonly ViewMessage[], options: TouchedOptions = {}): readonly TouchedFile[] {
  const files = new Map<string, TouchedFile>()
  const openFrom = messages.filter(isSaid).at(-openMessages)
  const firstOpen = Math.max(openFrom === undefined ? 0 : messages.indexOf(openFrom), messages.findLastIndex(isCommit))
  const news = newsOf(messages, options)
  const wholePath = wholePaths(news.flatMap(({ touches }) => touches.map(({ path }) => path)))
  for (const [at, { touches }] of news.entries()) {
    for (const touch of touches) {
      const path = wholePath(touch.path)
      const key = pathKey(path, options.root)
      const known = files.get(key)
      // Deleted first, so that the latest comes last.
      files.delete(key)
      files.set(key, { ...afterTouch(known, { ...touch, path }), ...(at < firstOpen ? { isEarlier: true } : {}) })
    }
  }
  for (const path of savedOutputs(messages)) files.delete(pathKey(path, options.root))
  return [...files.values()].toReversed()
}

/** "Output too large (35 KB). Full output saved to: /tmp/b1.txt": the output of a command, not a file being worked on. */
const savedOutput = /^\s*(?:<persisted-output>\s*)?Output too large.{0,80}saved to: *(\S.*)$/m

function savedOutputs(messages: readonly ViewMessage[]): readonly string[] {
  return messages
    .filter(({ origin }) => origin === 'tool-result')
    .flatMap(({ content }) => blocksOf(content).filter(isToolResult))
    .flatMap((block) => savedOutput.exec(textOf(block.content).slice(0, 1_000))?.[1]?.trim() ?? [])
}

/** `lib/a.ts` in the folder /p/src is /p/src/lib/a.ts, unless another file ends the same way. */
function wholePaths(paths: readonly string[]): (path: string) => string {
  const isAbsolute = (path: string) => /^(?:[/~\\]|[A-Za-z]:)/.test(path)
  const plain = (path: string) => path.replaceAll('\\', '/')
  const absolute = new Map(paths.filter(isAbsolute).map((path) => [plain(path), path]))
  return (path) => {
    const end = `/${plain(path)}`
    const [found, ...others] = isAbsolute(path) ? [] : [...absolute.keys()].filter((one) => one.endsWith(end))
    return others.length > 0 ? path : (absolute.get(found ?? '') ?? path)
  }
}

function newsOf(messages: readonly ViewMessage[], { named, recordOf }: TouchedOptions): readonly FileNews[] {
  const walk = createFileWalk(named)
  return messages.map((message) => walk(message, message.uuid === undefined ? undefined : recordOf?.(message.uuid)))
}

function afterTouch(known: TouchedFile | undefined, touch: FileTouch): TouchedFile {
  const { isEdited = false, inserted = [], seen = [] } = known ?? {}
  // The longer spelling has more information.
  const path = known?.path.endsWith(touch.path) ? known.path : touch.path
  const lines = touch.type === 'read' && touch.lines ? [touch.lines] : []
  const texts = touch.type === 'changed' ? touch.edits.map(({ after }) => after) : []
  return {
    path,
    isEdited: isEdited || (touch.type === 'changed' && touch.by !== 'client'),
    inserted: [...inserted, ...texts].slice(-maxPlaces),
    seen: [...seen, ...lines].slice(-maxPlaces),
  }
}

/**
 * Keys (`pathKey`) of the files that the messages show whole and current. A pointer to an older read, a cleared result, a part of
 * a file, or a file that changed after the read does not count.
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
