// The rounds of a view while it grows: stretches of places, each with the answer it begins with, and the messages each
// stretch makes. A change in the middle costs the rounds it touches and their neighbours.
import type { ViewMessage } from '../../message/message.ts'
import type { Edited } from './effects.ts'
import { amendedMessage, type MergedMessage, mergeRound, type Piece, type Source } from './merge.ts'
import { createPages, type Pages } from './pages.ts'

export type RowRounds = {
  /** How many places have been taken in. */
  readonly length: () => number
  /** Takes in the places up to this one. */
  readonly growTo: (length: number) => void
  /** Forgets the places from this one on, and whatever round they are in. */
  readonly cutTo: (place: number) => void
  /** Looks again at the rounds that hold these places. */
  readonly refresh: (places: readonly number[]) => void
  /** The same where nothing can have changed but the contents of what stands at these places. */
  readonly amend: (places: readonly number[], edited: Amending) => void
  /** The messages of all rounds, in lists that go on being used: whoever keeps them takes a snapshot. */
  readonly messages: () => MergedMessages
}

/** What becomes of a piece that stands in the view. */
export type Amending = (piece: ViewMessage) => Edited

export type MergedMessages = {
  readonly messages: Pages<ViewMessage>
  readonly sources: Pages<Source>
  /** The same with the row and the place of each message's first piece. */
  readonly merged: Pages<MergedMessage>
}

type Round = {
  readonly start: number
  /** The answer's id; undefined before the first answer, and for answers without one. */
  readonly id: string | undefined
  /** Let go when the next round begins, and gathered again when more comes to this one after all. */
  pieces: Piece[] | undefined
  merged: readonly MergedMessage[] | undefined
  /** Something was said since that no answer can have in its middle: further pieces of it are a new message. */
  isClosed: boolean
  /** Where its messages begin among all of them, as far as that is settled. */
  offset: number
}

export function createRowRounds(pieceAt: (place: number) => Piece | undefined): RowRounds {
  const rounds: Round[] = []
  const lists = createLists()
  let length = 0
  /** The first round whose messages are not in the lists, or not as they are now. */
  let open = 0
  const startOf = (index: number) => rounds[index]?.start ?? length

  const growTo = (end: number) => {
    if (end > length) open = Math.max(0, Math.min(open, rounds.length - 1))
    take(rounds, { from: length, to: end, pieceAt })
    length = end
  }

  /** The round before takes part: what was an answer may have become something that belongs to it. */
  const rebuild = (from: number, to: number) => {
    const first = Math.max(0, from - 1)
    const fresh: Round[] = []
    let last = to
    for (let place = startOf(first); ; ) {
      take(fresh, { from: place, to: startOf(last + 1), pieceAt })
      place = startOf(last + 1)
      const next = rounds[last + 1]
      const end = fresh.at(-1)
      if (next?.id === undefined || end?.id !== next.id || end.isClosed) break
      last++
    }
    // A round in the middle begins with its answer: nothing stands before it.
    if (first > 0 && fresh[0] && messagesOfRound(fresh[0]).length === 0) fresh.shift()
    if (last + 1 < rounds.length) letGo(fresh.at(-1))
    const old = exchange(rounds, { first, count: last - first + 1, fresh })
    // Most edits leave as many messages as there were: those behind them stay where they are.
    const isInPlace = first + old.length <= open && old.length === fresh.length && lists.replace(old, fresh)
    if (!isInPlace) open = Math.min(open, first)
  }

  const refresh = (places: readonly number[]) => {
    const known = places.filter((place) => place < length)
    for (const { first, last } of stretchesOf(rounds, known)) rebuild(first, last)
  }

  return {
    length: () => length,
    growTo,
    cutTo: (place) => {
      if (place >= length) return
      const at = indexAt(rounds, place)
      length = Math.min(place, startOf(at))
      rounds.length = at
      open = Math.min(open, at)
    },
    refresh,
    amend: (places, edited) => {
      let index = -1
      const others = places.filter((place) => {
        const before = index
        index = indexNear(rounds, place, before)
        return index !== before && (index >= open || !lists.amend(rounds[index], edited))
      })
      refresh(others)
    },
    messages: () => {
      const last = rounds[open - 1]
      lists.cutTo(last ? last.offset + (last.merged?.length ?? 0) : 0)
      for (; open < rounds.length; open++) lists.add(rounds[open])
      return lists
    },
  }
}

function createLists() {
  const messages = createPages<ViewMessage>()
  const sources = createPages<Source>()
  const merged = createPages<MergedMessage>()
  const set = (index: number, made: MergedMessage) => {
    messages.set(index, made.message)
    sources.set(index, made.source)
    merged.set(index, made)
  }
  return {
    messages,
    sources,
    merged,
    cutTo: (length: number) => {
      for (const list of [messages, sources, merged]) list.cutTo(length)
    },
    /** Puts rounds in the place of others, if they make as many messages. */
    replace: (old: readonly Round[], fresh: readonly Round[]): boolean => {
      const isSame = old.every((round, at) => {
        const other = fresh[at]
        return other && messagesOfRound(round).length === messagesOfRound(other).length
      })
      if (!isSame) return false
      for (const [nth, round] of fresh.entries()) {
        round.offset = old[nth]?.offset ?? 0
        for (const [at, made] of messagesOfRound(round).entries()) set(round.offset + at, made)
      }
      return true
    },
    /** False where the round has to be put together again. */
    amend: (round: Round | undefined, edited: Amending): boolean => {
      const made = round?.pieces ? undefined : round?.merged
      if (!round || !made) return false
      const fresh = made.map((before) => amendedMessage(before, edited))
      if (!isWhole(fresh)) return false
      round.merged = fresh
      for (let at = 0; at < fresh.length; at++) {
        const now = fresh[at]
        if (now && now !== made[at]) set(round.offset + at, now)
      }
      return true
    },
    add: (round: Round | undefined) => {
      if (!round) return
      round.offset = merged.length()
      for (const made of messagesOfRound(round)) {
        messages.push(made.message)
        sources.push(made.source)
        merged.push(made)
      }
    },
  }
}

function isWhole<T>(list: readonly (T | undefined)[]): list is readonly T[] {
  return !list.includes(undefined)
}

function messagesOfRound(round: Round): readonly MergedMessage[] {
  round.merged ??= mergeRound(round.pieces ?? [])
  return round.merged
}

/** When another one begins: the messages are made, and the pieces are whoever's who can use the list. */
function letGo(round: Round | undefined): Piece[] | undefined {
  if (!round) return undefined
  messagesOfRound(round)
  const { pieces } = round
  round.pieces = undefined
  return pieces
}

function piecesBetween(from: number, to: number, pieceAt: Taking['pieceAt']): Piece[] {
  const found: Piece[] = []
  for (let place = from; place < to; place++) {
    const piece = pieceAt(place)
    if (piece) found.push(piece)
  }
  return found
}

type Taking = {
  readonly from: number
  readonly to: number
  readonly pieceAt: (place: number) => Piece | undefined
}

function take(rounds: Round[], { from, to, pieceAt }: Taking): void {
  let last = rounds.at(-1)
  if (!last && from < to) {
    last = { start: from, id: undefined, pieces: [], merged: undefined, isClosed: false, offset: 0 }
    rounds.push(last)
  }
  for (let place = from; place < to; place++) {
    const piece = pieceAt(place)
    if (!piece || !last) continue
    const { role, messageId, origin } = piece.message
    const isNext = messageId === undefined || messageId !== last.id || last.isClosed
    if (role === 'assistant' && isNext) {
      const pieces = emptied(letGo(last))
      pieces.push(piece)
      last = { start: place, id: messageId, pieces, merged: undefined, isClosed: false, offset: 0 }
      rounds.push(last)
    } else {
      last.pieces ??= piecesBetween(last.start, place, pieceAt)
      last.pieces.push(piece)
      last.merged = undefined
      // Codex rollouts give a whole history one id; a person who speaks up ends an answer in any format.
      last.isClosed ||= role === 'user' && origin !== 'tool-result' && origin !== 'attachment'
    }
  }
}

/** The list that one round has no more use for is the next one's. Item by item: V8 would give its room back at once. */
function emptied(pieces: Piece[] | undefined): Piece[] {
  if (!pieces || pieces.length > mostReused) return []
  while (pieces.length > 0) pieces.pop()
  return pieces
}

const mostReused = 16

/** As splice does it, but for more rounds than a call can take arguments. */
function exchange(
  rounds: Round[],
  { first, count, fresh }: { readonly first: number; readonly count: number; readonly fresh: readonly Round[] },
): readonly Round[] {
  if (fresh.length < 1000) return rounds.splice(first, count, ...fresh)
  const rest = rounds.splice(first)
  for (const round of fresh) rounds.push(round)
  for (const round of rest.slice(count)) rounds.push(round)
  return rest.slice(0, count)
}

/** The rounds that hold these places, neighbours together; from the end, so that the indices before stay what they are. */
function stretchesOf(
  rounds: readonly Round[],
  places: readonly number[],
): readonly { readonly first: number; readonly last: number }[] {
  const indices = [...new Set(places.map((place) => indexAt(rounds, place)))].toSorted((a, b) => b - a)
  const stretches: { first: number; last: number }[] = []
  for (const index of indices) {
    const open = stretches.at(-1)
    if (open && index === open.first - 1) open.first = index
    else stretches.push({ first: index, last: index })
  }
  return stretches
}

/** The round that holds a place. */
function indexAt(rounds: readonly Round[], place: number): number {
  let low = 0
  let high = rounds.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((rounds[middle]?.start ?? 0) <= place) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}

/** The same, where it is likely to be this one or the next. */
function indexNear(rounds: readonly Round[], place: number, near: number): number {
  for (let index = Math.max(0, near); index <= near + 1; index++) {
    const isIn = (rounds[index]?.start ?? Number.POSITIVE_INFINITY) <= place
    if (isIn && place < (rounds[index + 1]?.start ?? Number.POSITIVE_INFINITY)) return index
  }
  return indexAt(rounds, place)
}

/** The messages that these pieces make, one piece for each entry in the order of the view. */
export function mergedMessages(pieces: readonly ViewMessage[]): readonly ViewMessage[] {
  const rounds = createRowRounds((place): Piece | undefined => {
    const message = pieces[place]
    return message && { message, uuids: message.uuid ?? [], edits: [], isPinned: false, row: place, place }
  })
  rounds.growTo(pieces.length)
  return rounds.messages().messages.snapshot().toArray()
}
