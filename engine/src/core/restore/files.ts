// Puts back the files being worked on, as they are now: those being edited first. A large one comes in excerpts around what
// was worked on; what does not fit is named with its size.
import type { Lines } from '../ledger/facts.ts'
import type { NotRestored, Piece } from '../ports/restore.ts'
import { pathKey } from './paths.ts'
import type { RestoreInput, Restorer } from './restorer.ts'
import { isRuleFile } from './rules.ts'
import type { TouchedFile } from './touched.ts'
import { visibleFiles } from './visible.ts'

const mostFiles = 5
/** So many are named where they cannot be put back; further ones fill the room they leave. */
const recent = 8
const mostTried = 28
const perFile = 5_000
const budget = 50_000

export const restoreFiles: Restorer = {
  kind: 'files',
  budget,
  restore: async (input, room) => {
    const pieces: Piece[] = []
    const notRestored: NotRestored[] = []
    let left = room
    for (const [at, file] of wanted(input).entries()) {
      if (pieces.length === mostFiles) break
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

/** What is being worked on now before what the user has moved on from; of both, what was edited first. */
function wanted(input: RestoreInput): readonly TouchedFile[] {
  const visible = visibleFiles(input.kept, input)
  const hidden = input.touched.filter(
    ({ path }) => !isElsewhere(path, input) && !visible.has(pathKey(path, input.root)),
  )
  const rank = ({ isEarlier, isEdited }: TouchedFile) => (isEarlier ? 2 : 0) + (isEdited ? 0 : 1)
  return hidden.toSorted((a, b) => rank(a) - rank(b)).slice(0, mostTried)
}

/** Comes back another way: with the system prompt, as the plan, as a rule file; or is the transcript itself. */
function isElsewhere(path: string, { state, transcriptPath, root }: RestoreInput): boolean {
  const key = pathKey(path, root)
  const others = [transcriptPath, state.plan?.path, ...state.memoryFiles]
  return isRuleFile(path) || others.some((other) => other !== undefined && pathKey(other, root) === key)
}

async function pieceOf(file: TouchedFile, input: RestoreInput, room: number): Promise<Piece | NotRestored> {
  const no = (why: string): NotRestored => ({ kind: 'files', what: file.path, why })
  const read = await input.files.read(file.path)
  if (read.type === 'missing') return no('not there any more')
  if (read.type === 'binary') return no(`it is binary (${read.bytes} bytes)`)
  if (read.type === 'refused') return no(read.why)
  const whole = pieceFrom(file.path, '', read.text, input)
  if (whole.tokens <= room) return whole
  return (
    excerptOf(file, { text: read.text, tokens: whole.tokens, room, input }) ??
    no(`there is no room for its ${whole.tokens} tokens`)
  )
}

function pieceFrom(path: string, which: string, text: string, { countTokens }: RestoreInput): Piece {
  const title = `File ${path}${which}`
  return { kind: 'files', title, text, tokens: countTokens(`${title}\n${text}`), path }
}

type Large = {
  readonly text: string
  readonly tokens: number
  readonly room: number
  readonly input: RestoreInput
}

const around = 8
const leastRoom = 300
/** A shorter beginning of a stretch tells nothing. */
const leastLines = 5
/** The head of a file, to see what it is. */
const head = 60

/** The stretches changed or read last, newest first, with some lines around them, until the room is used. */
function excerptOf(file: TouchedFile, { text, tokens, room, input }: Large): Piece | undefined {
  if (room < leastRoom) return undefined
  const lines = text.split('\n')
  let chosen: readonly Lines[] = []
  let best: Piece | undefined
  for (const [from, to] of placesIn(file, text, lines.length)) {
    const next = joined([...chosen, [from, to]])
    const piece = excerpt(next)
    if (piece.tokens <= room) {
      chosen = next
      best = piece
      continue
    }
    const end = lastThatFits(from, to)
    if (end - from + 1 >= leastLines) best = excerpt(joined([...chosen, [from, end]]))
    break
  }
  return best

  function lastThatFits(from: number, to: number): number {
    let [fits, tooFar] = [from - 1, to]
    while (tooFar - fits > 1) {
      const middle = (fits + tooFar) >>> 1
      if (excerpt(joined([...chosen, [from, middle]])).tokens <= room) fits = middle
      else tooFar = middle
    }
    return fits
  }

  function excerpt(stretches: readonly Lines[]): Piece {
    const which = ` (lines ${stretches.map(([from, to]) => `${from}–${to}`).join(', ')} of ${lines.length}; the whole file has ${tokens} tokens)`
    const parts = stretches.map(([from, to]) => `[line ${from}]\n${lines.slice(from - 1, to).join('\n')}`)
    return pieceFrom(file.path, which, parts.join('\n'), input)
  }
}

/** What was inserted, where it stands now; then what was read; then the head, or as much as fits where nothing is known. */
function placesIn({ inserted, seen }: TouchedFile, text: string, length: number): readonly Lines[] {
  const changed = inserted.flatMap((part) => linesOf(text, part))
  const known = [...changed.toReversed(), ...seen.toReversed()].filter(([from]) => from <= length)
  return [...known, [1, known.length > 0 ? head : length] as const].map(([from, to]) => [
    Math.max(1, from - around),
    Math.min(length, to + around),
  ])
}

function linesOf(text: string, part: string): readonly Lines[] {
  const at = part.trim() === '' ? -1 : text.indexOf(part)
  if (at < 0) return []
  const from = text.slice(0, at).split('\n').length
  return [[from, from + part.split('\n').length - 1]]
}

/** In order, without overlaps. */
function joined(stretches: readonly Lines[]): readonly Lines[] {
  const out: Lines[] = []
  for (const [from, to] of stretches.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1)
    if (last && from <= last[1] + 1) out[out.length - 1] = [last[0], Math.max(last[1], to)]
    else out.push([from, to])
  }
  return out
}
