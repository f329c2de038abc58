// Puts back the files read or edited last, as they are now. A large one comes in excerpts around what was worked on; what
// does not fit is named with its size.
import type { Lines } from '../ledger/facts.ts'
import type { NotRestored, Piece } from '../ports/restore.ts'
import type { RestoreInput, Restorer } from './restorer.ts'
import type { TouchedFile } from './touched.ts'
import { visibleFiles } from './visible.ts'

const mostFiles = 5
const perFile = 5_000
const budget = 50_000

export const restoreFiles: Restorer = {
  kind: 'files',
  budget,
  restore: async (input, room) => {
    const pieces: Piece[] = []
    const notRestored: NotRestored[] = []
    const visible = visibleFiles(input.kept)
    let left = room
    for (const file of input.touched) {
      if (pieces.length === mostFiles) break
      if (isElsewhere(file.path, input) || visible.has(file.path)) continue
      const found = await pieceOf(file, input, Math.min(perFile, left))
      if ('why' in found) notRestored.push(found)
      else {
        pieces.push(found)
        left -= found.tokens
      }
    }
    return { pieces, notRestored: notRestored.slice(0, mostNamed) }
  },
}

/** So that a session that touched thousands of files does not name them all. */
const mostNamed = 20

const memoryFile =
  /(^|[/\\])(AGENTS|CLAUDE|CLAUDE\.local|GEMINI)\.md$|(^|[/\\])\.(claude|cursor)[/\\]rules[/\\]|(^|[/\\])\.cursorrules$/i

/** Comes back another way: with the system prompt, as the plan, as a memory file; or is the transcript itself. */
function isElsewhere(path: string, { state, transcriptPath }: RestoreInput): boolean {
  return (
    path === transcriptPath || path === state.plan?.path || memoryFile.test(path) || state.memoryFiles.includes(path)
  )
}

async function pieceOf(file: TouchedFile, input: RestoreInput, room: number): Promise<Piece | NotRestored> {
  const no = (why: string): NotRestored => ({ kind: 'files', what: file.path, why })
  const read = await input.files.read(file.path)
  if (read.type === 'missing') return no('it is not there any more')
  if (read.type === 'binary') return no(`it is binary (${read.bytes} bytes)`)
  if (read.type === 'refused') return no(read.why)
  const whole = pieceFrom(file.path, '', read.text, input)
  if (whole.tokens <= room) return whole
  return excerptOf(file, { text: read.text, tokens: whole.tokens, room, input }) ?? no(`it has ${whole.tokens} tokens`)
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

/** The stretches changed or read last, newest first, with some lines around them, until the room is used. */
function excerptOf(file: TouchedFile, { text, tokens, room, input }: Large): Piece | undefined {
  if (room < leastRoom) return undefined
  const lines = text.split('\n')
  const wanted = [...file.changed.toReversed(), ...file.seen.toReversed(), [1, Math.min(60, lines.length)] as const]
  let chosen: readonly Lines[] = []
  let best: Piece | undefined
  for (const [from, to] of wanted) {
    const next = joined([...chosen, [Math.max(1, from - around), Math.min(lines.length, to + around)]], lines.length)
    const piece = excerpt(next)
    if (piece.tokens > room) continue
    chosen = next
    best = piece
  }
  return best

  function excerpt(stretches: readonly Lines[]): Piece {
    const which = ` (lines ${stretches.map(([from, to]) => `${from}–${to}`).join(', ')} of ${lines.length}; the whole file has ${tokens} tokens)`
    const parts = stretches.map(([from, to]) => `[line ${from}]\n${lines.slice(from - 1, to).join('\n')}`)
    return pieceFrom(file.path, which, parts.join('\n'), input)
  }
}

/** In order, without overlaps, inside the file. */
function joined(stretches: readonly Lines[], length: number): readonly Lines[] {
  const out: Lines[] = []
  for (const [from, to] of stretches.toSorted((a, b) => a[0] - b[0])) {
    if (from > length || to < from) continue
    const last = out.at(-1)
    if (last && from <= last[1] + 1) out[out.length - 1] = [last[0], Math.max(last[1], to)]
    else out.push([from, to])
  }
  return out
}
