// The screen of `everlong lost`. The first line states how bad it is; the rest fits a small terminal unless everything is
// requested.

import { count, counted, cut, cutStart, dateTime, oneLine, padEnd, visible, wrap } from '@everlong/agent/render'
import type { LostFile, LostType } from 'everlong/internal/node'
import { commandList, paragraph, type Screen } from '../../render/screen.ts'
import { shellWord } from '../../render/shell.ts'
import { type LostReport, type LostSession, type ReportedFact, reportOf } from './report.ts'

type Item = { readonly fact: ReportedFact; readonly session: LostSession }

export type LostScreenOptions = {
  readonly all?: boolean | undefined
  /** False if the reader has no shell. Default: true. */
  readonly hasCommands?: boolean
}

/** One session, for the plug-ins of agents. */
export function renderSession(file: LostFile, screen: Screen): readonly string[] {
  const report = reportOf({
    ...{ files: [file], paths: [file.path], found: 1, unreadable: [], installable: [], program: 'everlong' },
  })
  return render(report, screen, { all: true, hasCommands: false })
}

/** A small terminal, less the line for the next prompt. */
const screenLines = 23
const minItems = 3
const maxTextLines = 2

export function render(report: LostReport, screen: Screen, options: LostScreenOptions = {}): readonly string[] {
  const { all = false, hasCommands = true } = options
  const items = itemsOf(report)
  const head = headline(report, screen)
  const notes = caveats(report, screen)
  const [first] = items
  const foot = first && hasCommands ? ['', ...remedies(report, first, screen)] : []
  const blocks = items.map((item) => itemLines(item, { screen, all, isAlone: report.read === 1 }))
  const room = screenLines - head.length - notes.length - foot.length - 3
  const shown = all ? blocks : fitting(blocks, room)
  const more = blocks.length - shown.length
  return [
    ...head,
    ...(shown.length === 0 ? [] : ['']),
    ...shown.flat(),
    ...(more === 0 ? [] : [screen.paint('dim', `  … and ${count(more)} more: add --all`)]),
    ...(report.read === 1 ? unverifiedLines(report, screen) : []),
    ...(notes.length === 0 || shown.length === 0 ? notes : ['', ...notes]),
    ...foot,
  ]
}

function fitting(blocks: readonly (readonly string[])[], room: number): readonly (readonly string[])[] {
  let left = room
  const end = blocks.findIndex((block, at) => {
    left -= block.length
    return left < 0 && at >= minItems
  })
  return end < 0 ? blocks : blocks.slice(0, end)
}

const ranks: Readonly<Record<LostType, number>> = { rule: 0, decision: 1, request: 2, failure: 3, command: 4, file: 5 }

/** Most harmful first; for equal harm, those of the newest session first. */
function itemsOf({ sessions }: LostReport): readonly Item[] {
  const items = sessions.flatMap((session) => session.facts.map((fact) => ({ fact, session })))
  return items.toSorted((a, b) => ranks[a.fact.type] - ranks[b.fact.type])
}

const claimWords = {
  approval: 'no such approval on record',
  quote: 'not found in your messages',
  state: 'last seen otherwise',
  name: 'not found in the conversation',
} as const

/** `  "The user approved the deployment." (no such approval on record)` */
function unverifiedLines({ sessions }: LostReport, screen: Screen): readonly string[] {
  const claims = sessions.flatMap(({ unverified }) => unverified)
  if (claims.length === 0) return []
  const lines = claims.map(({ type, text }) => `"${text.replace(/\s+/g, ' ').trim()}" (${claimWords[type]})`)
  return [
    '',
    'The last summary claims what the session does not show:',
    ...lines.flatMap((line) => paragraph(line, screen)),
  ]
}

function headline(report: LostReport, screen: Screen): readonly string[] {
  const { sessions, read, counts } = report
  const losing = sessions.filter(({ facts }) => facts.length > 0).length
  const compactions = sessions.flatMap((session) => session.compactions)
  const standing = compactions.filter(({ isUndone }) => !isUndone).length
  const things = Object.values(counts).reduce((sum, each) => sum + each, 0)
  const who = read === 1 ? 'This session' : `${count(losing)} of ${counted(read, 'session')}`
  if (things > 0) {
    const kinds = Object.entries(counts).filter(([, number]) => number > 0)
    const listed = kinds.map(([type, number]) => counted(number, ...kindWords[type as LostType])).join(', ')
    return bold('red', `${who} lost ${counted(things, 'thing')} that may still matter: ${listed}.`, screen)
  }
  const unknown = sessions.filter((session) => session.unknown !== undefined).length
  if (unknown > 0 && unknown === sessions.length) return bold('yellow', 'What was lost cannot be known.', screen)
  if (compactions.length === 0)
    return bold(
      'green',
      `Nothing was lost: ${read === 1 ? 'this session was' : `${none(read)} was`} never compacted.`,
      screen,
    )
  if (standing === 0) return bold('green', 'Nothing is lost: every compaction was undone.', screen)
  return bold('green', `Nothing was lost that code can find, in ${counted(standing, 'compaction')}.`, screen)
}

function none(sessions: number): string {
  return `none of ${counted(sessions, 'session')}`
}

function bold(color: 'red' | 'yellow' | 'green', text: string, screen: Screen): readonly string[] {
  return wrap(text, screen.width).map((line) => screen.paint('bold', screen.paint(color, line)))
}

const kindWords: Readonly<Record<LostType, readonly [string, string]>> = {
  rule: ['instruction', 'instructions'],
  decision: ['decision', 'decisions'],
  request: ['request', 'requests'],
  failure: ['solved failure', 'solved failures'],
  command: ['command', 'commands'],
  file: ['changed file', 'changed files'],
}

/** Limits of the figures. */
function caveats(report: LostReport, screen: Screen): readonly string[] {
  const { sessions, found, read, unreadable } = report
  const of = (why: LostSession['unknown']) => sessions.filter(({ unknown }) => unknown === why).length
  const hasFacts = sessions.some(({ facts }) => facts.length > 0)
  const texts = [
    hasFacts
      ? 'Lost: the agent’s context no longer says it, as far as code can tell; a summary may say it in quite different words. The session file still has everything.'
      : '',
    of('unreadable-summary') === 0
      ? ''
      : `${inSessions(of('unreadable-summary'), read)}the last summary is encrypted or missing, so nobody can say what it left out.`,
    of('other-language') === 0
      ? ''
      : `${inSessions(of('other-language'), read)}you and the summary use different languages, so your words could not be compared.`,
    read < found ? `Read: the newest ${count(read)} of ${counted(found, 'session')}. --limit 0 reads all.` : '',
    unreadable.length === 0 ? '' : unreadableText(unreadable),
  ]
  return texts.filter((text) => text !== '').flatMap((text) => paragraph(text, screen, 'dim'))
}

function inSessions(number: number, read: number): string {
  return read === 1 ? 'Here ' : `In ${counted(number, 'session')} `
}

function unreadableText(unreadable: LostReport['unreadable']): string {
  const [first] = unreadable
  const more = unreadable.length > 1 ? ` and ${counted(unreadable.length - 1, 'other')}` : ''
  return `Could not be read: ${visible(first?.path ?? '')}${more} (--json has the reasons).`
}

type ItemOptions = { readonly screen: Screen; readonly all: boolean; readonly isAlone: boolean }

const labels: Readonly<Record<LostType, string>> = {
  rule: 'instruction',
  decision: 'decision',
  request: 'request',
  failure: 'failure',
  command: 'command',
  file: 'file',
}
const labelColumns = Math.max(...Object.values(labels).map(({ length }) => length))

function itemLines({ fact, session }: Item, { screen, all, isAlone }: ItemOptions): readonly string[] {
  const indent = ' '.repeat(labelColumns + 4)
  const room = Math.max(20, screen.width - indent.length)
  const wrapped = wrap(wordsOf(fact), room)
  const lines = all ? wrapped : wrapped.slice(0, maxTextLines)
  const isCut = lines.length < wrapped.length
  const text = lines.map((line, at) => (isCut && at === lines.length - 1 ? cut(`${line} …`, room) : cut(line, room)))
  const label = screen.paint('cyan', padEnd(labels[fact.type], labelColumns))
  const [first = '', ...rest] = text
  const place = placeOf(fact, { session, isAlone, screen, room })
  return [`  ${label}  ${first}`, ...rest.map((line) => `${indent}${line}`), screen.paint('dim', `${indent}${place}`)]
}

/** Texts come from files: one line each, without control characters. */
function wordsOf({ type, text, about = '', cause = '', by }: ReportedFact): string {
  const [said, topic, found] = [oneLine(text), withoutTable(oneLine(about)), oneLine(cause)]
  if (type === 'failure') return `“${found}”, said the agent after this failed: ${topic} (${said})`
  if (type === 'command' || type === 'file') return topic === '' ? said : `${said} (last run failed: ${topic})`
  if (type === 'decision' && said === '') return `You rejected: ${topic}`
  const whose = by === 'agent' ? ' (from the agent that started this one)' : ''
  return `“${said}”${whose}${topic === '' ? '' : `, about: ${topic}`}`
}

/** "| 5 | slow | | 7 | old |" → "5 · slow · 7 · old" */
function withoutTable(line: string): string {
  return line.startsWith('|')
    ? line
        .split(/(?:\s*\|\s*)+/)
        .filter((cell) => cell !== '')
        .join(' · ')
    : line
}

type PlaceOptions = Pick<ItemOptions, 'screen' | 'isAlone'> & { readonly session: LostSession; readonly room: number }

function placeOf(fact: ReportedFact, { session, isAlone, screen, room }: PlaceOptions): string {
  const time = fact.time === undefined ? '' : `, ${dateTime(fact.time, screen.timeZone)}`
  const by = session.compactions.find(({ number }) => number === fact.compaction)
  const lostBy = isAlone ? `, lost by compaction ${fact.compaction}${triggerOf(by?.trigger)}` : ''
  const rest = `${fact.line}${time}${lostBy}`
  if (isAlone) return cut(`line ${rest}`, room)
  return `${cutStart(visible(session.path), Math.max(10, room - rest.length - 1))}:${rest}`
}

function triggerOf(trigger = 'unknown'): string {
  return trigger === 'unknown' ? '' : ` (${oneLine(trigger)})`
}

/** Agents whose sessions a compaction can be appended to. */
const continuable: readonly string[] = ['claude-code', 'pi']

function remedies({ installable, program }: LostReport, { fact, session }: Item, screen: Screen): readonly string[] {
  const file = shellWord(visible(session.path))
  const append = continuable.includes(session.format) ? ' --append' : ''
  const compact = [`${program} compact ${file}${append}`, 'a new context with your instructions in it'] as const
  return commandList(
    [
      [`${program} recall ${file} --read ${shellWord(visible(fact.uuid))}`, 'shows the first one in full'],
      ...(fact.type === 'rule' ? [compact] : []),
      ...installable.map((name) => [`${program} install ${name}`, 'gives back what later compactions lose'] as const),
    ],
    screen,
  )
}
