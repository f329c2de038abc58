// Answers the questions of the page about sessions, as JSON. It runs in a thread of its own, because reading a large session would
// hold up the server.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from 'everlong'
import { findSubagents, type Match, scanFile } from 'everlong/internal/node'
import { openArchive } from 'everlong/node'
import type { AgentLane, FoundItems, Item, ItemPage, Place, SearchData, SearchMatch } from '../data/api.ts'
import { addSums, modelsOf, noSums, parsed } from '../data/facts.ts'
import { lanesInside } from '../data/lanes.ts'
import type { SessionView } from '../data/session.ts'
import { withoutContent } from '../data/without-content.ts'
import { createLibrary, type Library } from './library.ts'

export type Question =
  | { readonly type: 'rows' }
  | { readonly type: 'facts'; readonly session: string }
  | { readonly type: 'path'; readonly session: string }
  | { readonly type: 'session' | 'lost' | 'window' | 'agents'; readonly session: string }
  | { readonly type: 'items'; readonly session: string; readonly from: number; readonly count: number }
  | { readonly type: 'item'; readonly session: string; readonly item: number }
  | { readonly type: 'place'; readonly session: string; readonly uuid: string }
  | { readonly type: 'find'; readonly session: string; readonly words: string }
  | { readonly type: 'undoable'; readonly session: string; readonly uuid: string }
  | { readonly type: 'compaction' | 'alternative'; readonly session: string; readonly number: number }
  | { readonly type: 'search'; readonly words: string }

/** Undefined: there is nothing with this name. */
export type Reader = (question: Question) => Promise<object | undefined>

export type ReaderOptions = {
  readonly paths: readonly string[]
  readonly env: Environment
  /** Answers have numbers only. */
  readonly isContentHidden?: boolean
}

export function createReader(options: ReaderOptions): Reader {
  const library = createLibrary(options)
  const read = readerOf(library, options)
  if (!options.isContentHidden) return read
  return async (question) => {
    if (question.type === 'search' || question.type === 'find') return undefined
    const answer = await read(question)
    // The server itself needs paths.
    return question.type === 'path' || question.type === 'undoable' ? answer : withoutContent(answer)
  }
}

function readerOf(library: Library, options: ReaderOptions): Reader {
  return async (question) => {
    if (question.type === 'rows') return library.rows()
    if (question.type === 'search') return searchAll(options.paths, question.words, library)
    if (question.type === 'facts') return library.facts(question.session)
    if (question.type === 'path') {
      const path = library.pathOf(question.session)
      return path === undefined ? undefined : { path }
    }
    const view = library.open(question.session)
    return view && aboutSession(view, question, library)
  }
}

const maxFound = 500
/** More than a screen shows, few enough to be quick. */
const maxPage = 500

type AboutSession = Exclude<Question, { readonly type: 'rows' | 'search' | 'facts' | 'path' }>

async function aboutSession(view: SessionView, question: AboutSession, library: Library): Promise<object | undefined> {
  const { conversation } = view
  switch (question.type) {
    case 'session':
      return view.data()
    case 'lost':
      return view.lost()
    case 'window':
      return view.window()
    case 'agents':
      return lanesOf(view, library)
    case 'items': {
      const from = Math.min(question.from, conversation.count)
      return { from, items: conversation.page(from, Math.min(question.count, maxPage)) } satisfies ItemPage
    }
    case 'item':
      return conversation.whole(question.item) satisfies Item | undefined
    case 'place':
      return { item: conversation.indexOf(question.uuid) ?? null } satisfies Place
    case 'find':
      return conversation.find(question.words, maxFound) satisfies FoundItems
    case 'undoable': {
      const isOne = view.data().compactions.some(({ undo }) => undo === question.uuid)
      return isOne ? { path: view.transcript.path } : undefined
    }
    case 'compaction':
      return view.compaction(question.number)
    case 'alternative':
      return view.alternative(question.number)
  }
}

/** Sub-agents inside the file, beside it and in its folder. Those with a file of their own can be opened. */
export function lanesOf({ transcript, conversation }: SessionView, library: Library): readonly AgentLane[] {
  const { agents } = findSubagents(transcript.path)
  const inside = lanesInside(transcript.entries)
  return agents.map(({ id, kind, place, path, entries, agentType, description, toolUseId }): AgentLane => {
    const item = toolUseId === undefined ? null : conversation.callAt(toolUseId)
    const name = description ?? agentType ?? id
    const common = { id, kind, place, name, item, entries }
    const own = place === 'inside' ? inside.get(id) : undefined
    if (place === 'inside') return { ...common, session: null, ...(own ?? nothingKnown) }
    return { ...common, session: library.admit(path), ...laneOfFile(path) }
  })
}

const nothingKnown = { from: null, to: null, tokens: null, cost: null }

function laneOfFile(path: string): Pick<AgentLane, 'from' | 'to' | 'tokens' | 'cost'> {
  const scan = scanFile(path)
  const models = modelsOf(scan)
  const times = scan.epochs.flatMap(({ from, to }) => [from, to]).flatMap((time) => parsed(time) ?? [])
  return {
    from: times[0] ?? null,
    to: times.at(-1) ?? null,
    tokens: models.reduce((sum, { tokens }) => addSums(sum, tokens), noSums),
    cost: models.some(({ cost }) => cost !== null) ? models.reduce((sum, { cost }) => sum + (cost ?? 0), 0) : null,
  }
}

const maxMatches = 50

/** Over all text, in the archive that `everlong recall` searches too. */
function searchAll(paths: readonly string[], words: string, library: Library): SearchData {
  const ids = new Map(library.rows().map(({ path, id }) => [path, id]))
  const found = paths.map((path) => {
    const archive = openArchive(path)
    try {
      const { matches, more } = archive.search({ words, limit: maxMatches })
      const isFile = statSync(path).isFile()
      return {
        more,
        matches: matches.flatMap((match) => matchOf(match, ids.get(isFile ? path : join(path, match.file)))),
      }
    } finally {
      archive.close()
    }
  })
  return { matches: found.flatMap(({ matches }) => matches), more: found.some(({ more }) => more) }
}

/** Sub-agents' files are searched too, but are no sessions of the list. */
function matchOf(match: Match, session: string | undefined): readonly SearchMatch[] {
  if (session === undefined) return []
  const { uuid, line, snippet, time, kind } = match
  return [{ session, uuid: uuid ?? null, line, snippet, time: parsed(time) ?? null, kind }]
}
