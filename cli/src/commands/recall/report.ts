// `everlong recall`: searches the archive of a session or a folder of them, or reads one text from it.

import { statSync } from 'node:fs'
import { oneLine, visible, wrap } from '@everlong/agent/render'
import {
  type CaughtUp,
  cardLine,
  findTranscripts,
  parseSearch,
  type Reading,
  readTranscript,
  type SearchResult,
} from 'everlong/internal/node'
import { type Archive, openArchive } from 'everlong/node'
import type { Io } from '../../io.ts'
import { expecting, failed, gathered, noTranscript, noTranscripts, type Outcome, reading } from '../../outcome.ts'
import { createProgress } from '../../progress.ts'
import type { Screen } from '../../render/screen.ts'

export type RecallOptions = {
  readonly tool?: string
  readonly path?: string
  readonly kind?: string
  readonly epoch?: number
  readonly since?: string
  readonly until?: string
  readonly newest?: boolean
  readonly limit?: number
  /** Reads the text with this id instead of searching. */
  readonly read?: string
}

type Unreadable = CaughtUp['unreadable']

/** `unreadable`: files and records that could not be searched. */
type Search = SearchResult & { readonly type: 'search'; readonly unreadable: Unreadable }

export type RecallReport = Search | ({ readonly type: 'reading' } & Reading)

type Asked = RecallOptions & { readonly io: Io }

export function gather(path: string, words: readonly string[], options: Asked): Outcome<RecallReport> {
  return expecting(path, () => {
    const isFolder = statSync(path).isDirectory()
    const look = () => {
      const found = inArchive(path, options, (archive) => lookUp(archive, words, options))
      const isFound = found.type === 'gathered' && found.exitCode === 0
      return (isFound ? undefined : whyNothing(path, isFolder)) ?? found
    }
    return isFolder ? look() : reading(path, look)
  })
}

/** Without a conversation nothing can be found. */
function whyNothing(path: string, isFolder: boolean): Outcome<RecallReport> | undefined {
  if (isFolder) return findTranscripts([path]).files.length === 0 ? failed(noTranscripts([path])) : undefined
  return readTranscript(path).lastUuid === undefined ? failed(noTranscript(path)) : undefined
}

function inArchive<T>(path: string, { io }: Asked, look: (archive: Archive) => T): T {
  const progress = createProgress(io)
  try {
    const archive = openArchive(path, { onProgress: progress.show })
    progress.clear()
    try {
      return look(archive)
    } finally {
      archive.close()
    }
  } finally {
    progress.clear()
  }
}

function lookUp(archive: Archive, words: readonly string[], options: Asked): Outcome<RecallReport> {
  if (options.read !== undefined) {
    const found = archive.read(options.read)
    if (found !== undefined) return gathered({ type: 'reading', ...found })
    return failed(`nothing in the archive has the id ${visible(options.read)}. Search for it first.`)
  }
  const { io: _, newest, ...filters } = options
  const order = newest ? 'newest' : 'best'
  const request = parseSearch({ ...filters, query: words.join(' '), order })
  if (request.type === 'refused') return failed(request.reason)
  const result = archive.search(request.query)
  const report = { type: 'search', ...result, unreadable: archive.refresh().unreadable } as const
  if (result.matches.length > 0) return gathered(report)
  const complaint = 'nothing was found. Try fewer or other words, prefix*, or fewer filters.'
  return { type: 'gathered', report, exitCode: 1, complaint }
}

export function render(report: RecallReport, screen: Screen): readonly string[] {
  if (report.type === 'reading') return readingLines(report.text, screen)
  const missing = notSearched(report.unreadable)
  if (report.matches.length === 0) return missing
  const some = report.matched === 'any' ? ['No match for all words; these match some of them.', ''] : []
  const cards = report.matches.flatMap((match) => [
    ...wrap(oneLine(cardLine(match)), screen.width).map((line) => screen.paint('bold', line)),
    ...wrap(oneLine(match.snippet), screen.width - 2).map((line) => `  ${line}`),
  ])
  const more = report.more ? ['There are more: narrow the search, or use --limit.'] : []
  const notes = [...more, ...missing]
  return [...some, ...cards, ...(notes.length > 0 ? ['', ...notes] : [])]
}

/** Warns that a search was not complete. */
function notSearched([first, ...others]: Unreadable): readonly string[] {
  if (first === undefined) return []
  const { path, line, reason } = first
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return [oneLine(`Not searched: ${path}${line === undefined ? '' : `:${line}`} (${reason})${more}.`)]
}

/** A file gets the text unchanged, but on a terminal it must be harmless. */
function readingLines(text: string, screen: Screen): readonly string[] {
  const lines = text.replace(/\n$/, '').split('\n')
  return screen.isTerminal ? lines.map((line) => visible(line.replaceAll('\t', '  '))) : lines
}
