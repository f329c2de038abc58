// The summary without a model: the nine sections filled by code from the facts, the reports of the assistant, the last
// rounds and what an earlier summary still says. It states nothing that the conversation does not hold.
import { recency } from '../ledger/rank.ts'
import { oneLine } from '../ledger/text.ts'
import type { Line } from '../ledger/units.ts'
import { earlierLines } from './earlier.ts'
import { fenced, lastExcerpts } from './excerpts.ts'
import type { Frame } from './frame.ts'
import { codeMade } from './marks.ts'
import { ledgerTitles, type PageOptions, type Slot } from './page.ts'
import { sectionNumbers, type Variant } from './sections.ts'
import type { SummarySource } from './source.ts'
import { lastSteps, reportsOf } from './steps.ts'

const before = 'From the summary before, unchecked:'

export const offlineSlots: readonly Slot[] = [
  { section: 'earlier 1', place: 1, title: before },
  { section: 'names', place: 2, title: ledgerTitles.names },
  { section: 'urls', place: 2, title: ledgerTitles.urls },
  { section: 'earlier 2', place: 2, title: before },
  { section: 'files', place: 3, title: ledgerTitles.files },
  { section: 'excerpts', place: 3, title: 'Code as last written:' },
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
  { section: 'steps', place: 8, title: 'The last steps, oldest first:' },
  { section: 'repository', place: 8, title: ledgerTitles.repository },
  { section: 'earlier 8', place: 5, title: 'Work at the time of the summary before:' },
]

const mostSteps = 24

/** The lines that compete for room with the ledger's own. */
export function offlineLines({ messages }: SummarySource): readonly Line[] {
  const now = messages.length
  const reports = reportsOf(messages).map(({ at, text, isEnded }): Line => {
    const longest = isEnded ? 400 + Math.round(400 * recency(at, now)) : 1600
    return {
      section: isEnded ? 'reports' : 'steps',
      order: at,
      text: `- reported: "${oneLine(text, longest)}"`,
      worth: (isEnded ? 1 : 6) + 3 * recency(at, now),
    }
  })
  const last = reports.at(-1)?.section === 'steps' ? reports.at(-1)?.order : undefined
  const steps = lastSteps(messages, mostSteps)
    .filter(({ type, at }) => type === 'called' || at !== last)
    .map(
      ({ type, at, text }, index): Line => ({
        section: 'steps',
        order: at + index / 1000,
        text: type === 'said' ? `- said: "${oneLine(text, 300)}"` : `- ${text}`,
        worth: 2 * recency(at, now),
      }),
    )
  const excerpts = lastExcerpts(messages).map(
    ({ path, at, how, code }, order): Line => ({
      section: 'excerpts',
      order,
      text: `- ${oneLine(path, 300)}, as ${how}:\n${fenced(code)}`,
      worth: 1 + 2 * recency(at, now),
    }),
  )
  const earlier = earlierLines(messages).map(
    ({ section, text, order }): Line => ({ section: `earlier ${section}`, order, text, worth: 0.8 }),
  )
  return [...reports, ...steps, ...excerpts, ...earlier]
}

export function offlinePage(frame: Frame, source: SummarySource, variant: Variant): PageOptions {
  const [first] = frame.messages
  const open = source.ledger.todos.find(({ status }) => status === 'in-progress')
  return {
    opening: [codeMade],
    slots: offlineSlots,
    variant,
    end: frame.end,
    fixed: {
      1: [
        ...(first === undefined ? [] : [`- It began with: "${oneLine(first.text, 240)}"`]),
        ...(frame.end === '' ? [] : ['- What is wanted now stands at the end, word for word.']),
        ...(frame.rules.length === 0 ? [] : ['Standing constraints, in the user’s words:', ...frame.rules]),
      ],
      6: frame.said,
      9: [
        ...(frame.latest === undefined
          ? []
          : [`- Go on with the latest request: "${oneLine(frame.latest.text, 200)}"`]),
        ...(open === undefined ? [] : [`- In progress on the to-do list: ${oneLine(open.text, 240)}`]),
      ],
    },
  }
}

export const proseSlots: readonly Slot[] = [
  ...sectionNumbers.map((number): Slot => ({ section: `prose ${number}`, place: number })),
  ...Object.entries(ledgerTitles).map(([section, title]): Slot => ({ section, place: 'facts', title })),
]
