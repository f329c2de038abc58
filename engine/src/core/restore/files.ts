// Restores the current content of the files in use, edited ones first. For a large file it restores excerpts around the places
// changed or read last. A file that does not fit is listed with its size.
import type { FilePart, NotRestored, RestoredPiece } from '../ports/restore.ts'
import { type Lines, pathKey } from '../tools/call.ts'
import { isRuleFile } from './from-disk.ts'
import { type RestoreInput, type Restorer, whyUnread } from './restorer.ts'
import { stretchesOf } from './seen-files.ts'
import { type TouchedFile, visibleFiles } from './touched.ts'

const maxFiles = 5
/** This many files are listed if they cannot be restored; older ones only fill the remaining room. */
const recent = 8
const maxTried = 28
const perFile = 5_000
const budget = 50_000

export const restoreFiles: Restorer = {
  kind: 'files',
  budget,
  restore: async (input, room) => {
    const pieces: RestoredPiece[] = []
    const notRestored: NotRestored[] = []
    let left = room
    for (const [at, file] of wanted(input).entries()) {
      if (pieces.length === maxFiles) break
      const found = await pieceOf(file, input, Math.min(perFile, left))
      if ('why' in found) notRestored.push(...(at < recent ? [found] : []))
      else {
        pieces.push(found)
        left -= found.tokens
      }
    }
    return { pieces, notRestored }
  },
}

/**
 * Files that the open work names, in that order; then files in use; then files that the user has moved on from. Edited files come
 * first within a group.
 */
function wanted(input: RestoreInput): readonly TouchedFile[] {
  const visible = visibleFiles(input.kept, input)
  const hidden = input.touched.filter(
    ({ path }) => !isElsewhere(path, input) && !visible.has(pathKey(path, input.root)),
  )
  const next = input.next ?? ''
  const rank = ({ path, isEarlier, isEdited }: TouchedFile) =>
    namedAt(path, next) ?? next.length + (isEarlier ? 2 : 0) + (isEdited ? 0 : 1)
  const ranked = hidden.map((file) => ({ file, rank: rank(file) })).toSorted((a, b) => a.rank - b.rank)
  return ranked.map(({ file }) => file).slice(0, maxTried)
}

/** Index of the first mention of a file. Its name must not be part of a longer name. */
function namedAt(path: string, text: string): number | undefined {
  const name = path.split(/[\\/]/).at(-1) ?? ''
  if (!name.includes('.')) return undefined
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!/[\w.-]/.test(text[at - 1] ?? '') && !/\w/.test(text[at + name.length] ?? '')) return at
  }
  return undefined
}

/** The transcript itself, or a file that is restored elsewhere: with the system prompt, as the plan, or as a rule file. */
function isElsewhere(path: string, { state, transcriptPath, root }: RestoreInput): boolean {
  const key = pathKey(path, root)
  const others = [transcriptPath, state.plan?.path, ...state.memoryFiles]
  return isRuleFile(path) || others.some((other) => other !== undefined && pathKey(other, root) === key)
}

async function pieceOf(file: TouchedFile, input: RestoreInput, room: number): Promise<RestoredPiece | NotRestored> {
  const no = (why: string): NotRestored => ({ kind: 'files', what: file.path, why })
  const read = await input.files.read(file.path)
  if (read.type !== 'text') return no(whyUnread(read))
  const { text, part } = read
  const whole = pieceFrom(file.path, '', text, input)
  if (!part && whole.tokens <= room) return whole
  const excerpt = excerptOf(file, { text, part, tokens: whole.tokens, room, input })
  return excerpt ?? no(part ? 'too few of its lines were shown' : `there is no room for its ${whole.tokens} tokens`)
}

function pieceFrom(path: string, which: string, text: string, { countTokens }: RestoreInput): RestoredPiece {
  const title = `File ${path}${which}`
  return { kind: 'files', title, text, tokens: countTokens(`${title}\n${text}`), path }
}

type LargeFile = {
  readonly text: string
  readonly part: FilePart | undefined
  readonly tokens: number
  readonly room: number
  readonly input: RestoreInput
}

const linesAround = 8
/** Excerpts with fewer lines are useless. */
const minLines = 5
/** The lines that fit: places that were changed, discussed or read last, with some lines around them. */
function excerptOf(file: TouchedFile, { text, part, tokens, room, input }: LargeFile): RestoredPiece | undefined {
  const lines = text.replace(/\n$/, '').split('\n')
  const allowed = new Set(part ? part.lines.flatMap(numbersIn) : numbersIn([1, lines.length]))
  const places = [...placesIn(file, { text, lines, next: input.next ?? '' }), ...(part?.lines ?? [])]
  const order = [...new Set(places.flatMap(numbersIn))].filter((line) => allowed.has(line) && line <= lines.length)
  const why = part ? whyNotWhole(part, lines.length) : `the whole file has ${tokens} tokens`
  const excerpt = (count: number): RestoredPiece => {
    const stretches = stretchesOf(order.slice(0, count).toSorted((a, b) => a - b))
    const which = ` (lines ${stretches.map(rangeText).join(', ')} of ${lines.length}; ${why})`
    const parts = stretches.map(([from, to]) => `[line ${from}]\n${lines.slice(from - 1, to).join('\n')}`)
    return pieceFrom(file.path, which, parts.join('\n'), input)
  }
  let [fits, tooMany] = [0, order.length + 1]
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >>> 1
    if (excerpt(middle).tokens <= room) fits = middle
    else tooMany = middle
  }
  return fits < Math.min(minLines, lines.length) ? undefined : excerpt(fits)
}

function numbersIn([from, to]: Lines): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

function rangeText([from, to]: Lines): string {
  return `${from}–${to}`
}

/** `line 2 as it was shown, the file has something else there; the other lines were not shown` */
function whyNotWhole({ lines, differs }: FilePart, length: number): string {
  const which = differs.map(([from, to]) => (from === to ? `${from}` : rangeText([from, to]))).join(', ')
  const isAll = lines.length === 1 && lines[0]?.[0] === 1 && lines[0][1] >= length
  return [
    ...(differs.length > 0 ? [`line ${which} as it was shown, the file has something else there`] : []),
    ...(isAll ? [] : ['the other lines were not shown']),
  ].join('; ')
}

type FileText = { readonly text: string; readonly lines: readonly string[]; readonly next: string }

/**
 * In this order: blocks with a name that the next step mentions; the blocks around inserted lines, newest first; lines that were
 * read separately, newest first. A read of the whole file adds no place. Without any place, the start of the file.
 */
function placesIn({ inserted, seen }: TouchedFile, { text, lines, next }: FileText): readonly Lines[] {
  const { length } = lines
  const changed = inserted.flatMap((part) => linesOf(text, part)).toReversed()
  const read = seen.filter(([from, to]) => from <= length && (from > 1 || to < length))
  const blocks = [...discussedIn(lines, next), ...changed].map((place) => blockAround(lines, place))
  const known = [...blocks, ...read.toReversed()].map(
    ([from, to]): Lines => [Math.max(1, from - linesAround), Math.min(length, to + linesAround)],
  )
  return known.length > 0 ? known : [[1, length]]
}

/** \`.nav-item\`, parseGate, gate_open, 2734900755: in code marks, spelled like an identifier, or the id of a comment or issue. */
const identifier = /`([^`\n]{3,80})`|\b([A-Za-z]\w*(?:_\w|[a-z][A-Z])\w*|\d{6,20})\b/g
/** A name that occurs more often does not identify a place. */
const maxPlaces = 4
const maxNames = 12

/** Lines with names that the text mentions. "fix \`parseGate\`" finds the lines with parseGate. */
function discussedIn(lines: readonly string[], text: string): readonly Lines[] {
  const names = new Set([...text.matchAll(identifier)].map(([, quoted, bare]) => quoted ?? bare ?? ''))
  return [...names].slice(0, maxNames).flatMap((name) => {
    const places = lines.flatMap((line, at) => (line.includes(name) ? [at + 1] : []))
    return places.length > maxPlaces ? [] : places.map((at) => [at, at] as const)
  })
}

/** A larger block is cut. */
const maxBlock = 80

/** The largest enclosing block within the limit, by indentation. Usually the function. */
function blockAround(lines: readonly string[], place: Lines): Lines {
  const indent = (line: string) => (line.trim() === '' ? Number.POSITIVE_INFINITY : line.search(/\S/))
  let [from, to] = place
  for (;;) {
    const depth = lines
      .slice(from - 1, to)
      .reduce((least, line) => Math.min(least, indent(line)), Number.POSITIVE_INFINITY)
    const isOutside = (line: string) => indent(line) < depth
    const start = lines.slice(0, from - 1).findLastIndex(isOutside) + 1
    const end = lines.findIndex((line, at) => at >= to && isOutside(line)) + 1
    if (start === 0 || end === 0 || end - start >= maxBlock) return [from, to]
    ;[from, to] = [start, /^\s*(?:[)}\]]|end\b|<\/)/.test(lines[end - 1] ?? '') ? end : end - 1]
  }
}

/** All places of the part. "margin: 7px" may be in several rules, and it is unknown which one was changed. */
function linesOf(text: string, part: string): readonly Lines[] {
  const before = part.trim() === '' ? [] : text.split(part).slice(0, -1)
  if (before.length > maxPlaces) return []
  const length = part.split('\n').length
  let from = 1
  return before.map((skipped) => {
    from += skipped.split('\n').length - 1
    const place: Lines = [from, from + length - 1]
    from += length - 1
    return place
  })
}
