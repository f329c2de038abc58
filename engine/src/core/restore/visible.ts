// Which files a stretch of messages shows as they are now. A pointer to an older read, a cleared result, a part of a
// file, or a read that was changed since does not count.
import { textOf } from '../message/block.ts'
import { numberAt, objectAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { isPointer } from '../tokens/file-reads.ts'
import { clearedText } from '../transcript/format/messages.ts'
import { createFileWalk, type FileTouch } from './file-events.ts'
import { pathKey } from './paths.ts'
import type { TouchedOptions } from './touched.ts'

/** By their keys (`pathKey`). */
export function visibleFiles(
  messages: readonly ViewMessage[],
  { named, root, recordOf }: TouchedOptions = {},
): ReadonlySet<string> {
  const visible = new Set<string>()
  const walk = createFileWalk(named)
  for (const message of messages) {
    const record = message.uuid === undefined ? undefined : recordOf?.(message.uuid)
    const { touches, unsure } = walk(message, record)
    for (const key of visible) if (unsure.some(({ mayChange }) => mayChange(key))) visible.delete(key)
    for (const touch of touches) {
      const key = pathKey(touch.path, root)
      if (showsWhole(touch)) visible.add(key)
      else if (makesOld(touch)) visible.delete(key)
    }
  }
  return visible
}

function showsWhole(touch: FileTouch): boolean {
  if (touch.type === 'attached') return isWholeAttachment(touch)
  if (touch.type !== 'read' || touch.by.isShell) return false
  const [from, to] = touch.lines
  const { result } = touch.by
  const isCleared = textOf([result]).startsWith(clearedText)
  return from === 1 && to === Number.POSITIVE_INFINITY && !isCleared && !isPointer(result)
}

function makesOld(touch: FileTouch): boolean {
  return touch.type === 'changed' || (touch.type === 'attached' && touch.kind === 'edited_text_file')
}

function isWholeAttachment({ kind, path, attachment }: Extract<FileTouch, { type: 'attached' }>): boolean {
  // What was put back after an earlier compaction: an excerpt says so behind the path.
  if (kind === 'files') return stringAt(attachment, 'content')?.startsWith(`File ${path}\n`) === true
  if (kind !== 'file' && kind !== 'already_read_file') return false
  const file = objectAt(objectAt(attachment, 'content'), 'file')
  const shown = numberAt(file, 'numLines')
  return shown === undefined || shown >= (numberAt(file, 'totalLines') ?? 0)
}
