// The summary without a model: the nine sections filled by code from the facts, the reports of the assistant, the last
// rounds and what an earlier summary still says. It states nothing that the conversation does not hold.
import { recency } from '../ledger/rank.ts'
import { oneLine } from '../ledger/text.ts'
import type { Line } from '../ledger/units.ts'
import type { ViewMessage } from '../message/message.ts'
import { earlierLines } from './earlier.ts'
import { fenced, lastExcerpts } from './excerpts.ts'
import type { Frame } from './frame.ts'
import type { HumanMessage } from './human.ts'
import { codeMade } from './marks.ts'
import { ledgerTitles, type PageOptions, type Slot } from './page.ts'
import { sectionNumbers, type Variant } from './sections.ts'
import type { SummarySource } from './source.ts'
import { lastSteps, type Report, shortPath } from './steps.ts'

const codeTitle = 'Code as last seen:'
const before = 'From the summary before, unchecked:'

export const offlineSlots: readonly Slot[] = [
  { section: 'earlier 1', place: 1, title: before },
  { section: 'names', place: 2, title: ledgerTitles.names },
  { section: 'urls', place: 2, title: ledgerTitles.urls },
  { section: 'earlier 2', place: 2, title: before },
  { section: 'files', place: 3, title: ledgerTitles.files },
  { section: 'excerpts', place: 3, title: codeTitle },
  { section: 'earlier 3', place: 3, title: before },
  { section: 'errors', place: 4 },
  { section: 'earlier 4', place: 4, title: before },
  { section: 'reports', place: 5, title: 'What the assistant reported, oldest first:' },
  { section: 'decisions', place: 5, title: ledgerTitles.decisions },
  { section: 'verification', place: 5, title: ledgerTitles.verification },
  { section: 'commands', place: 5, title: ledgerTitles.commands },
  { section: 'earlier 5', place: 5, title: before },
  { section: 'earlier 6', place: 6, title: 'Earlier ones, as the summary before tells them, unchecked:' },
  { section: 'todos', place: 7, title: ledgerTitles.todos },
  { section: 'earlier 7', place: 7, title: before },
  { section: 'near', place: 8 },
  { section: 'steps', place: 8, title: 'The last steps, oldest first:' },
  { section: 'repository', place: 8, title: ledgerTitles.repository },
  { section: 'earlier 8', place: 5, title: 'Work at the time of the summary before:' },
]

const mostSteps = 24

type LineOptions = {
  readonly reports: readonly Report[]
  /** In tokens: more code than could fit is not offered. */
  readonly budget: number
  /** What the frame leaves of it. */
  readonly room: number
  readonly instructions: string
}

/** The lines that compete for room with the ledger's own. */
export function offlineLines(
  { messages }: SummarySource,
  { reports, budget, room, instructions }: LineOptions,
): readonly Line[] {
  const lines = weigh(
    [
      ...nearLines(reports, room),
      ...workLines(messages, reports),
      ...excerptLines(messages, budget),
      ...carriedLines(messages),
    ],
    messages.length,
  )
  const wanted = new Set(wordsOf(instructions))
  if (wanted.size === 0) return lines
  return lines.map((line) => {
    const hits = new Set(wordsOf(line.text).filter((word) => wanted.has(word))).size
    return hits === 0 ? line : { ...line, worth: line.worth + hits * worthOfHit }
  })
}

/** A line that speaks of what the summary is to pay heed to is worth more for each word of it. */
const worthOfHit = 2

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? []
}

/** The code that stands beside a model's prose. */
export function codeLines({ messages }: SummarySource, budget: number): readonly Line[] {
  return weigh(excerptLines(messages, budget), messages.length)
}

function weigh(lines: readonly Weighed[], now: number): readonly Line[] {
  return lines.map(({ at, worth, ...line }) => ({ ...line, worth: worth(recency(at, now)) }))
}

type Weighed = Omit<Line, 'worth'> & { readonly at: number; readonly worth: (recency: number) => number }

/** What was answered before the latest request, and what was said since: the one text that shows where the work is. */
const nearLength = { least: 120, most: 2400, perToken: 0.22, perTokenPointedAt: 0.6 } as const
const reportLength = 600
const pieceLength = 280
const mostPieces = 8

function nearReports(reports: readonly Report[]): readonly Report[] {
  const answered = reports.findLast(({ isEnded }) => isEnded)
  const current = reports.find(({ isEnded }) => !isEnded)
  return [answered, current].filter((report) => report !== undefined)
}

/** As it stands there in any case: cut to a share of the room that is left, so that little room is not all theirs. */
function nearShown({ text, isPointedAt }: Report, room: number): string {
  const { least, most, perToken, perTokenPointedAt } = nearLength
  const share = Math.round(room * (isPointedAt ? perTokenPointedAt : perToken))
  return oneLine(text, Math.min(most, Math.max(least, share)))
}

function standing(reports: readonly Report[], room: number): readonly string[] {
  return nearReports(reports).map((report) => {
    const when = report.isEnded ? 'Before the latest request the assistant' : 'Since then it'
    return `- ${when} reported: "${nearShown(report, room)}"`
  })
}

/** The rest of them competes with everything else, piece by piece. */
function nearLines(reports: readonly Report[], room: number): readonly Weighed[] {
  return nearReports(reports).flatMap((report) => {
    const { text, at, isEnded } = report
    const all = oneLine(text, nearLength.most)
    const shown = nearShown(report, room)
    const rest = all.length <= shown.length ? '' : all.slice(shown.length - 1).trim()
    return wordsApart(rest, pieceLength)
      .slice(0, mostPieces)
      .map(
        (piece, index): Weighed => ({
          section: 'near',
          order: at + index / 100,
          at,
          text: `- ${isEnded ? 'the report before the request' : 'the report since'}, further on: "${piece}"`,
          worth: (recent) => 0.5 + recent,
        }),
      )
  })
}

/** In pieces of about this length, no word cut in two. */
function wordsApart(text: string, length: number): readonly string[] {
  const pieces: string[] = []
  for (const word of text.split(' ')) {
    const last = pieces.at(-1)
    if (last === undefined || last.length + word.length >= length) pieces.push(word)
    else pieces[pieces.length - 1] = `${last} ${word}`
  }
  return pieces.filter((piece) => piece !== '')
}

function workLines(messages: readonly ViewMessage[], reports: readonly Report[]): readonly Weighed[] {
  const near = new Set(nearReports(reports).map(({ at }) => at))
  const spoken = new Set(reports.map(({ at }) => at))
  const told = reports
    .filter(({ at }) => !near.has(at))
    .map(
      ({ at, text }): Weighed => ({
        section: 'reports',
        order: at,
        at,
        text: `- reported: "${oneLine(text, reportLength)}"`,
        worth: (recent) => 1 + 2 * recent,
      }),
    )
  const steps = lastSteps(messages, mostSteps)
    .filter(({ type, at }) => type === 'called' || !spoken.has(at))
    .map(
      ({ type, at, text }, index): Weighed => ({
        section: 'steps',
        order: at + index / 1000,
        at,
        text: type === 'said' ? `- said: "${oneLine(text, 300)}"` : `- ${text}`,
        worth: (recent) => 0.9 * recent,
      }),
    )
  return [...told, ...steps]
}

const worthOfLine = 0.1
const charactersPerToken = 5

function excerptLines(messages: readonly ViewMessage[], budget: number): readonly Weighed[] {
  return lastExcerpts(messages, budget * charactersPerToken).map(
    ({ path, at, how, code, piece, pieces }, order): Weighed => ({
      section: 'excerpts',
      order,
      at,
      text: `- ${shortPath(path)}, as ${how}${pieces === 1 ? '' : `, part ${piece} of ${pieces}`}:\n${fenced(code)}`,
      worth: (recent) => code.split('\n').length * worthOfLine * (how === 'read' ? 0.5 : 1) * recent,
    }),
  )
}

function carriedLines(messages: readonly ViewMessage[]): readonly Weighed[] {
  return earlierLines(messages).map(
    ({ section, text, order }): Weighed => ({
      section: `earlier ${section}`,
      order,
      at: 0,
      text,
      worth: () => carriedWorth[section] ?? 0.1,
    }),
  )
}

/** What is pending and was asked for matters longest. */
const carriedWorth: Readonly<Record<number, number>> = { 1: 0.6, 5: 0.3, 6: 0.4, 7: 0.5 }

export type OfflineOptions = {
  readonly source: SummarySource
  readonly reports: readonly Report[]
  readonly variant: Variant
  /** In tokens: what is there in any case is cut to a share of it. */
  readonly room: number
  readonly instructions: string
}

export function offlinePage(frame: Frame, options: OfflineOptions): PageOptions {
  const { source, reports, variant, room, instructions } = options
  return {
    opening: [codeMade],
    slots: offlineSlots,
    variant,
    end: frame.end,
    fixed: {
      1: intent(frame, instructions),
      6: frame.said,
      7: pending(frame),
      8: standing(reports, room),
      9: nextStep(frame, source, reports),
    },
  }
}

/** Not a bare command of the client, where there is anything else. */
function beginning({ messages }: Frame): HumanMessage | undefined {
  return messages.find(({ text }) => text.length >= 20 && !/^\/\S+$/.test(text)) ?? messages[0]
}

function intent(frame: Frame, instructions: string): readonly string[] {
  const first = beginning(frame)
  // What stands under 6 word for word, or at the end, is not said twice.
  const isSaid = first !== undefined && [...frame.said, frame.end].some((line) => line.includes(first.text))
  return [
    ...(first === undefined || isSaid ? [] : [`- It began with: "${oneLine(first.text, 240)}"`]),
    ...(instructions.trim() === '' ? [] : [`- Asked of this summary: "${oneLine(instructions, 300)}"`]),
    ...(frame.end === '' ? [] : ['- All requests stand under 6, the latest one at the end.']),
    ...(frame.rules.length === 0 ? [] : ['Standing constraints, in the user’s words:', ...frame.rules]),
  ]
}

function pending(frame: Frame): readonly string[] {
  return frame.latest === undefined ? [] : ['- The latest request, as far as the last steps under 8 have not done it']
}

const standLength = 140

function nextStep(
  { latest }: Frame,
  { messages, ledger }: SummarySource,
  reports: readonly Report[],
): readonly string[] {
  const open = ledger.todos.find(({ status }) => status === 'in-progress')
  // What section 8 has just told is not told again.
  const told = new Set(nearReports(reports).map(({ at }) => at))
  const said = lastSteps(messages, 4).findLast(({ type }) => type === 'said')
  const words = said === undefined || told.has(said.at) ? undefined : said.text
  return [
    ...(latest === undefined ? [] : ['- Go on with the latest request: it stands at the end']),
    ...(open === undefined ? [] : [`- In progress on the to-do list: ${oneLine(open.text, 240)}`]),
    ...(words === undefined ? [] : [`- The assistant’s last words: "${oneLine(words, standLength)}"`]),
  ]
}

export const proseSlots: readonly Slot[] = [
  ...sectionNumbers.map((number): Slot => ({ section: `prose ${number}`, place: number })),
  ...Object.entries(ledgerTitles).map(([section, title]): Slot => ({ section, place: 'facts', title })),
  { section: 'excerpts', place: 'facts', title: codeTitle },
]
