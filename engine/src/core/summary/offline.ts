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
import { lastSteps, reportsOf, shortPath } from './steps.ts'

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
  { section: 'answer', place: 8, title: 'Before the latest request:' },
  { section: 'steps', place: 8, title: 'The last steps, oldest first:' },
  { section: 'repository', place: 8, title: ledgerTitles.repository },
  { section: 'earlier 8', place: 5, title: 'Work at the time of the summary before:' },
]

const mostSteps = 24

/** The lines that compete for room with the ledger's own. */
export function offlineLines({ messages }: SummarySource, budget: number): readonly Line[] {
  return weigh([...workLines(messages, budget), ...excerptLines(messages), ...carriedLines(messages)], messages.length)
}

/** The code that stands beside a model's prose. */
export function codeLines({ messages }: SummarySource): readonly Line[] {
  return weigh(excerptLines(messages), messages.length)
}

function weigh(lines: readonly Weighed[], now: number): readonly Line[] {
  return lines.map(({ at, worth, ...line }) => ({ ...line, worth: worth(recency(at, now)) }))
}

type Weighed = Omit<Line, 'worth'> & { readonly at: number; readonly worth: (recency: number) => number }

/** What was answered before the latest request is what that request speaks of. */
const answerLength = { least: 600, most: 2400, perToken: 0.4 } as const
const reportLength = 600

function workLines(messages: readonly ViewMessage[], budget: number): readonly Weighed[] {
  const { least, most, perToken } = answerLength
  const nearLength = Math.min(most, Math.max(least, Math.round(budget * perToken)))
  const reports = reportsOf(messages)
  const answered = reports.findLast(({ isEnded }) => isEnded)
  const current = reports.find(({ isEnded }) => !isEnded)
  const told = reports.map((report): Weighed => {
    const isNear = report === answered || report === current
    return {
      section: report === current ? 'steps' : report === answered ? 'answer' : 'reports',
      order: report.at,
      at: report.at,
      text: `- reported: "${oneLine(report.text, isNear ? nearLength : reportLength)}"`,
      worth: (recent) => (isNear ? 12 : 0.5 + 2 * recent),
    }
  })
  const steps = lastSteps(messages, mostSteps).filter(
    ({ type, at }) => type === 'called' || (at !== current?.at && at !== answered?.at),
  )
  return [
    ...told,
    ...steps.map(
      ({ type, at, text }, index): Weighed => ({
        section: 'steps',
        order: at + index / 1000,
        at,
        text: type === 'said' ? `- said: "${oneLine(text, 300)}"` : `- ${text}`,
        worth: (recent) => 1.2 * recent,
      }),
    ),
  ]
}

const worthOfLine = 0.02
const mostWorth = 40

function excerptLines(messages: readonly ViewMessage[]): readonly Weighed[] {
  return lastExcerpts(messages).map(
    ({ path, at, how, code }, order): Weighed => ({
      section: 'excerpts',
      order,
      at,
      text: `- ${shortPath(path)}, as ${how}:\n${fenced(code)}`,
      worth: (recent) =>
        Math.min(code.split('\n').length, mostWorth) * worthOfLine * (how === 'read' ? 0.5 : 1) * recent,
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
      worth: () => carriedWorth[section] ?? 0.4,
    }),
  )
}

/** What is pending and was asked for matters longest. */
const carriedWorth: Readonly<Record<number, number>> = { 1: 1, 5: 0.6, 6: 0.6, 7: 1 }

export function offlinePage(frame: Frame, source: SummarySource, variant: Variant): PageOptions {
  return {
    opening: [codeMade],
    slots: offlineSlots,
    variant,
    end: frame.end,
    fixed: { 1: intent(frame), 6: frame.said, 7: pending(frame), 9: nextStep(frame, source) },
  }
}

/** Not a bare command of the client, where there is anything else. */
function beginning({ messages }: Frame): HumanMessage | undefined {
  return messages.find(({ text }) => text.length >= 20 && !/^\/\S+$/.test(text)) ?? messages[0]
}

function intent(frame: Frame): readonly string[] {
  const first = beginning(frame)
  return [
    ...(first === undefined ? [] : [`- It began with: "${oneLine(first.text, 240)}"`]),
    ...(frame.end === '' ? [] : ['- All requests stand under 6, the latest one at the end.']),
    ...(frame.rules.length === 0 ? [] : ['Standing constraints, in the user’s words:', ...frame.rules]),
  ]
}

function pending(frame: Frame): readonly string[] {
  return frame.latest === undefined ? [] : ['- The latest request, as far as the last steps under 8 have not done it']
}

const standLength = 200

function nextStep({ latest }: Frame, { messages, ledger }: SummarySource): readonly string[] {
  const open = ledger.todos.find(({ status }) => status === 'in-progress')
  const words = lastSteps(messages, 12).findLast(({ type }) => type === 'said')?.text
  return [
    ...(latest === undefined ? [] : [`- Go on with the latest request: "${oneLine(latest.text, standLength)}"`]),
    ...(open === undefined ? [] : [`- In progress on the to-do list: ${oneLine(open.text, 240)}`]),
    ...(words === undefined ? [] : [`- The assistant’s last words: "${oneLine(words, standLength)}"`]),
  ]
}

export const proseSlots: readonly Slot[] = [
  ...sectionNumbers.map((number): Slot => ({ section: `prose ${number}`, place: number })),
  ...Object.entries(ledgerTitles).map(([section, title]): Slot => ({ section, place: 'facts', title })),
  { section: 'excerpts', place: 'facts', title: codeTitle },
]
