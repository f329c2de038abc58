// The code that the agent changed or read last, as it was last seen, in pieces small enough to choose among. It shows
// what stands in the messages and nothing else.
import { withoutSecrets } from '../ledger/secrets.ts'
import { patchedFiles, patchOf, toolKind } from '../ledger/tools.ts'
import { blocksOf, isToolResult, isToolUse, type ToolUseBlock, textOf } from '../message/block.ts'
import { arrayAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { pathIn } from '../message/tool-names.ts'

export type Excerpt = {
  readonly path: string
  readonly at: number
  readonly how: 'changed' | 'written' | 'read'
  readonly code: string
  /** Which piece of a longer text this is; 1 of 1 for the whole. */
  readonly piece: number
  readonly pieces: number
}

const mostCalls = 60
const linesOfPiece = 32
const longestPiece = 2000
const leastCode = 24
/** A piece of which so much stands in a newer one says nothing new. */
const mostKnown = 0.7

/** Newest first, about so many characters; what a later change or a later look replaced is left out. */
export function lastExcerpts(messages: readonly ViewMessage[], characters: number): readonly Excerpt[] {
  const found: Excerpt[] = []
  const known = createKnown()
  const results = new Map<string, string>()
  let left = characters
  let calls = 0
  for (let at = messages.length - 1; at >= 0 && left > 0 && calls < mostCalls; at--) {
    const message = messages[at]
    for (const block of blocksOf(message?.content).toReversed()) {
      if (isToolResult(block) && block.is_error !== true) results.set(block.tool_use_id, textOf(block.content))
      if (!isToolUse(block) || message?.origin !== 'assistant') continue
      const parts = partsOf(block, results.get(block.id))
      if (parts.length > 0) calls++
      for (const { path, how, code, before } of parts) {
        const pieces = piecesOf(how === 'read' ? withoutReminders(code) : code)
        for (const [index, text] of pieces.entries()) {
          if (left <= 0 || text.trim().length < leastCode || !known.isNew(path, text)) continue
          found.push({ path, at, how, code: text, piece: index + 1, pieces: pieces.length })
          left -= text.length
        }
        known.replace(path, { before, isWhole: how === 'written' })
      }
    }
  }
  return found
}

type Known = {
  /** Whether this says something new of the file; from then on it is known. */
  readonly isNew: (path: string, code: string) => boolean
  readonly replace: (path: string, by: { readonly before: readonly string[]; readonly isWhole: boolean }) => void
}

/** What newer calls showed of each file, and what they replaced in it. */
function createKnown(): Known {
  const lines = new Map<string, Set<string>>()
  const gone: string[] = []
  const rewritten = new Set<string>()
  return {
    isNew: (path, code) => {
      if (rewritten.has(path)) return false
      const bare = withoutMargin(code)
      if (gone.some((old) => old.includes(bare) || bare.includes(old))) return false
      const own = linesIn(bare)
      const seen = lines.get(path) ?? new Set()
      if (own.filter((line) => seen.has(line)).length > own.length * mostKnown) return false
      for (const line of own) seen.add(line)
      lines.set(path, seen)
      return true
    },
    replace: (path, { before, isWhole }) => {
      gone.push(...before.filter((old) => old.trim().length >= leastCode))
      if (isWhole) rewritten.add(path)
    },
  }
}

function linesIn(code: string): readonly string[] {
  return code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= 6)
}

function withoutMargin(code: string): string {
  return code.replace(/^ *\d+[→\t|]/gm, '')
}

/** Clients put words to the model behind a file's text. */
function withoutReminders(text: string): string {
  return text.replace(/\n*<system-reminder>[\s\S]*?(?:<\/system-reminder>|$)/g, '')
}

/** Without secrets and blank lines around, cut between lines. */
function piecesOf(code: string): readonly string[] {
  const lines = withoutSecrets(code).toWellFormed().trimEnd().replace(/^\n+/, '').split('\n')
  const pieces: string[] = []
  let piece: string[] = []
  let length = 0
  for (const line of lines) {
    if (piece.length > 0 && (piece.length === linesOfPiece || length + line.length > longestPiece)) {
      pieces.push(piece.join('\n'))
      piece = []
      length = 0
    }
    const short = line.length > longestPiece ? `${line.slice(0, longestPiece).toWellFormed()}…` : line
    piece.push(short)
    length += short.length + 1
  }
  return [...pieces, piece.join('\n')]
}

type Part = Pick<Excerpt, 'path' | 'how' | 'code'> & { readonly before: readonly string[] }

function partsOf({ name, input }: ToolUseBlock, result: string | undefined): readonly Part[] {
  const path = pathIn(input)
  switch (toolKind(name, input)) {
    case 'read':
      return path === undefined || result === undefined ? [] : [{ path, how: 'read', code: result, before: [] }]
    case 'edit': {
      const edits = arrayAt(input, 'edits')
      return (edits.length > 0 ? edits : [input]).flatMap((edit): readonly Part[] => {
        const code = stringAt(edit, 'new_string') ?? stringAt(edit, 'newText') ?? stringAt(edit, 'new_str')
        const old = stringAt(edit, 'old_string') ?? stringAt(edit, 'oldText') ?? stringAt(edit, 'old_str') ?? ''
        return path === undefined || code === undefined ? [] : [{ path, how: 'changed', code, before: [old] }]
      })
    }
    case 'write': {
      const code = stringAt(input, 'content') ?? stringAt(input, 'file_text')
      return path === undefined || code === undefined ? [] : [{ path, how: 'written', code, before: [] }]
    }
    case 'patch': {
      const patch = patchOf(input)
      const [file] = patchedFiles(patch)
      const code = patch
        .split('\n')
        .filter((line) => /^\+(?!\+\+)/.test(line))
        .map((line) => line.slice(1))
        .join('\n')
      return file === undefined ? [] : [{ path: file.path, how: 'changed', code, before: [] }]
    }
    default:
      return []
  }
}

/** A fenced block whose fence the code cannot close. */
export function fenced(code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`{3,}/g)].map(([marks]) => marks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${code}\n${fence}`
}
