// Cache marks: their number, their blocks, and the order of their lifetimes.
import type { Block } from 'everlong'
import { isObject, isThinking } from 'everlong/internal'
import { invalid, type Problem } from '../http/problem.ts'
import { oncePer } from '../request/once.ts'
import { ttlOf } from '../request/parse.ts'
import { type MessagesRequest, placedIn, type Ttl } from '../request/request.ts'

type Mark = { readonly path: string; readonly ttl: Ttl; readonly on: unknown }

const maxMarks = 4

export function marksAtMostFour(request: MessagesRequest): Problem | undefined {
  const marks = marksOf(request)
  const found = marks.length + (addsMark(request, marks) ? 1 : 0)
  if (found <= maxMarks) return undefined
  return invalid(`A maximum of ${maxMarks} blocks with cache_control may be provided. Found ${found}.`)
}

export function marksLongBeforeShort(request: MessagesRequest): Problem | undefined {
  let short = false
  for (const mark of allMarks(request)) {
    if (short && mark.ttl === '1h') {
      return invalid(
        `${mark.path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ` +
          'Note that blocks are processed in the following order: `tools`, `system`, `messages`.',
      )
    }
    short ||= mark.ttl === '5m'
  }
  return undefined
}

/** The automatic mark may fall on a marked block, but only with the same lifetime. */
export function marksLastBlockAlike(request: MessagesRequest): Problem | undefined {
  const last = lastCacheable(request.messages.flatMap((message) => message.content))
  const own = marksOf(request).find((mark) => mark.on === last)
  if (request.automaticMark === undefined || own === undefined || own.ttl === request.automaticMark) return undefined
  return invalid(`cache_control: the last block is already marked with another ttl (${own.path}.cache_control.ttl)`)
}

export function marksNoEmptyText(request: MessagesRequest): Problem | undefined {
  const empty = marksOf(request).find(({ on }) => isObject(on) && on.type === 'text' && on.text === '')
  return empty && invalid(`${empty.path}.text: cache_control cannot be set for empty text blocks`)
}

function allMarks(request: MessagesRequest): readonly Mark[] {
  const marks = marksOf(request)
  const ttl = request.automaticMark
  return ttl !== undefined && addsMark(request, marks)
    ? [...marks, { path: 'cache_control', ttl, on: undefined }]
    : marks
}

/** The automatic mark takes its own slot unless its block is already marked. */
function addsMark(request: MessagesRequest, marks: readonly Mark[]): boolean {
  if (request.automaticMark === undefined) return false
  const last = lastCacheable(request.messages.flatMap((message) => message.content))
  return !marks.some((mark) => mark.on === last)
}

export function lastCacheable(blocks: readonly Block[]): Block | undefined {
  return blocks.findLast((block) => !isThinking(block) && block.type !== 'cache_edits')
}

/** Every explicit mark, in the order in which the prompt is read. */
const marksOf = oncePer(findMarks)

function findMarks(request: MessagesRequest): readonly Mark[] {
  const found: Mark[] = []
  const look = (on: unknown, path: string) => {
    const ttl = isObject(on) ? ttlOf(on.cache_control) : undefined
    if (ttl !== undefined) found.push({ path, ttl, on })
  }
  for (const [at, tool] of request.tools.entries()) look(tool, `tools.${at}`)
  for (const [at, block] of request.system.entries()) look(block, `system.${at}`)
  for (const { block, path } of placedIn(request.messages)) {
    if (block.type === 'tool_result' && Array.isArray(block.content)) {
      for (const [at, part] of block.content.entries()) look(part, `${path}.content.${at}`)
    }
    look(block, path)
  }
  return found
}
