// `everlong inspect --tree`: the conversation as a tree, one line per message. Reads the file twice, once for its links and once
// for the text of the shown lines, and keeps one row per entry in memory.

import { visible } from '@everlong/agent/render'
import { ancestryOf, createScanner, type Epoch, isPostCompact, readHead, type Scan, typeAt } from 'everlong/internal'
import { forEachEntry } from 'everlong/internal/node'
import type { Io } from '../../io.ts'
import { failed, type Outcome, orNoTranscript, reading } from '../../outcome.ts'
import { createProgress } from '../../progress.ts'
import { type Digest, digestOf, isSeen } from './tree-digest.ts'
import { type TreePlace, treeOrder } from './tree-order.ts'

export type TreeLine = {
  readonly kind: Digest['kind'] | 'epoch' | 'sub-agent'
  /** 0 is the trunk; branches are deeper. */
  readonly depth: number
  /** Line of the file, counted from 1. */
  readonly line: number
  readonly uuid: string | undefined
  readonly time: string | undefined
  /** The context after an answer, on its first line. */
  readonly tokens: number | undefined
  readonly text: string
  readonly isError: boolean
  /** A root that names the entry it continues: the first entry after a compaction. */
  readonly isPostCompact: boolean
  /** For the line that opens an epoch. */
  readonly epoch: Epoch | undefined
  /** For a sub-agent: its entries. */
  readonly entries: number | undefined
}

export type TreeReport = {
  readonly path: string
  /** How many lines the whole tree has. */
  readonly total: number
  /** The last of them. */
  readonly lines: readonly TreeLine[]
}

export type TreeOptions = {
  readonly limit: number
  /** The uuid of an entry: only its ancestry is shown. */
  readonly ancestry?: string
  readonly io: Io
}

export function gather(path: string, { limit, ancestry, io }: TreeOptions): Outcome<TreeReport> {
  return reading(path, () => {
    const progress = createProgress(io)
    try {
      const { scan, bytes, isShown } = firstPass(path, (done, all) => progress.show(done / 2, all))
      const rows = ancestry === undefined ? undefined : ancestryOf(scan, ancestry)
      if (rows?.length === 0)
        return failed(
          `There is no entry ${visible(ancestry ?? '')} in ${visible(path)}. See everlong inspect --tree --json.`,
        )
      const places = rows
        ? withLegacy(scan, rows)
            .filter(isShown)
            .map((row) => ({ row, depth: 0 }))
        : treeOrder(scan, isShown)
      const shown = limit === 0 ? places : places.slice(-limit)
      const digests = secondPass(path, shown, (done, all) => progress.show((all + done) / 2, all))
      const report = { path, total: places.length, lines: linesOf(scan, shown, digests) }
      return orNoTranscript(report, { path, bytes, isTranscript: places.length > 0 })
    } finally {
      progress.clear()
    }
  })
}

/** Boundaries of old clients are outside the tree, so no ancestry has them. They come before the first entry after them. */
function withLegacy(scan: Scan, rows: readonly number[]): readonly number[] {
  const epochs = epochsByLine(scan)
  const legacy = scan.boundaries.filter(({ row, isLegacy }) => isLegacy && epochs.has(scan.table.lines[row]))
  return rows.flatMap((row, at) => {
    const between = legacy.filter((boundary) => boundary.row > (rows[at - 1] ?? row) && boundary.row < row)
    return [...between.map((boundary) => boundary.row), row]
  })
}

/** By the line of the boundary that opened them. */
function epochsByLine({ epochs }: Scan): ReadonlyMap<number | undefined, Epoch> {
  return new Map(epochs.flatMap((epoch) => (epoch.openedBy ? [[epoch.openedBy.line, epoch]] : [])))
}

type OnProgress = (done: number, all: number) => void

const shownTypes = ['user', 'assistant', 'boundary', 'attachment']

function firstPass(path: string, onProgress: OnProgress) {
  const scanner = createScanner()
  const unseen = new Set<number>()
  let row = 0
  const { bytes } = forEachEntry(
    path,
    (entry) => {
      if (!isSeen(entry)) unseen.add(row)
      scanner.add(entry)
      row++
    },
    { onProgress },
  )
  const scan = scanner.finish()
  const duplicates = new Set(scan.table.duplicates)
  const isShown = (at: number) => shownTypes.includes(typeAt(scan.table, at)) && !unseen.has(at) && !duplicates.has(at)
  return { scan, bytes, isShown }
}

type Digests = ReadonlyMap<number, Digest & Pick<TreeLine, 'isPostCompact'>>

function secondPass(path: string, places: readonly TreePlace[], onProgress: OnProgress): Digests {
  const wanted = new Set(places.map(({ row }) => row))
  const digests = new Map<number, Digest & Pick<TreeLine, 'isPostCompact'>>()
  let row = 0
  forEachEntry(
    path,
    (entry) => {
      if (wanted.has(row)) digests.set(row, { ...digestOf(entry), isPostCompact: isPostCompact(readHead(entry)) })
      row++
    },
    { onProgress },
  )
  return digests
}

function linesOf(scan: Scan, places: readonly TreePlace[], digests: Digests): readonly TreeLine[] {
  const epochs = epochsByLine(scan)
  let lastAnswer: string | undefined
  return places.map(({ row, depth, folded }) => {
    const digest = digests.get(row)
    const uuid = digest?.uuid
    const isNewAnswer = digest?.messageId !== undefined && digest.messageId !== lastAnswer
    if (digest?.messageId !== undefined) lastAnswer = digest.messageId
    const epoch = typeAt(scan.table, row) === 'boundary' ? epochs.get(scan.table.lines[row]) : undefined
    return {
      kind: folded !== undefined ? 'sub-agent' : epoch ? 'epoch' : (digest?.kind ?? 'injected'),
      depth,
      line: scan.table.lines[row] ?? 0,
      uuid,
      time: digest?.time,
      tokens: isNewAnswer && folded === undefined ? scan.table.contextTokens[row] || undefined : undefined,
      text: digest?.text ?? '',
      isError: digest?.isError ?? false,
      isPostCompact: digest?.isPostCompact ?? false,
      epoch,
      entries: folded,
    }
  })
}
