// The ledger: facts that code reads from a conversation, message by message. It calls no model and guesses nothing.

import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import {
  type Block,
  blocksOf,
  isMedia,
  isText,
  isToolResult,
  isToolUse,
  textOf,
  type ViewMessage,
} from '../message/message.ts'
import { condensed, wellFormed } from '../text/cut.ts'
import { oneLine } from '../text/neutralize.ts'
import { plainWords } from '../text/plain-words.ts'
import { withoutSecrets } from '../text/secrets.ts'
import { readCompaction } from '../transcript/format/compaction-records.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { messageOf } from '../transcript/format/messages.ts'
import { noteCall, noteEnded, noteResult } from './calls.ts'
import { type Exchange, emptyLedger, type Ledger, type Step } from './facts.ts'
import { fromJson } from './json.ts'
import { foldPasted } from './pasted.ts'
import { rulesIn, saysSomethingLasting } from './rules.ts'
import { createState, ledgerOf, noteCause, type State, trim } from './state.ts'
import { interrupted, shortStatement, withoutAnnouncements, withoutSteps } from './steps.ts'
import { noteShownTodos } from './todos.ts'
import { interruption, isForTheAgent, isTyped, questionBehind, typedText, type Words } from './user-words.ts'

export type LedgerBook = {
  /**
   * Reads one message, in constant time. `record` is its transcript record, which has details that the model did not see: exit
   * codes, line ranges, patches.
   */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** Adds words that the user typed while the agent was working. Only for words that no message contains. */
  readonly addQueued: (text: string) => void
  /** Adds earlier words of the user that a summary quotes. They count as one message. */
  readonly addQuoted: (words: Words) => void
  readonly ledger: () => Ledger
}

/** A new ledger, or one that continues an earlier one. */
export function createLedger(from: Ledger = emptyLedger): LedgerBook {
  const state = createState(from)
  return {
    add: (message, record) => addMessage(state, message, record),
    // Its time is that of the previous message.
    addQueued: (text) =>
      noteTyped(state, { kind: 'queued', text: typedText(text) }, { last: Math.max(0, state.messages - 1) }),
    addQuoted: (words) => {
      noteTyped(state, words, {})
      state.messages++
    },
    ledger: () => ledgerOf(state),
  }
}

/** Returns the ledger of a transcript. The newest of our boundaries has the facts before it. */
export function ledgerOfEntries(entries: readonly Entry[]): Ledger {
  const known = entries.findLastIndex(({ record }) => readCompaction(record).ledger !== undefined)
  const carried = readCompaction(entries[known]?.record).ledger
  const book = createLedger(carried === undefined ? emptyLedger : fromJson(carried))
  for (const { record } of entries.slice(known + 1)) {
    const message = messageOf(record)
    // A restored file or plan is not a new fact.
    if (message && objectAt(record, 'attachment')?.isRestored !== true) book.add(message, record)
  }
  return book.ledger()
}

function addMessage(state: State, message: ViewMessage, record: JsonObject | undefined): void {
  readPlace(state, record)
  noteEnded(state, message)
  noteShownTodos(state, record)
  switch (message.origin) {
    case 'assistant':
      for (const block of blocksOf(message.content)) readAnswer(state, block)
      break
    case 'tool-result':
      // A result that was cleared from the view is still in its record.
      for (const block of blocksOf(objectAt(record, 'message')?.content ?? message.content)) {
        if (!isToolResult(block)) continue
        const { words, step } = noteResult(state, block, { raw: record?.toolUseResult, time: message.time })
        if (step !== undefined) noteStep(state, { ...step, text: wellFormed(withoutSecrets(step.text)) })
        for (const said of words) noteWords(state, said, message)
      }
      readWordsBeside(state, message, record)
      break
    case 'human':
    case 'agent':
      readRequest(state, message)
  }
  state.messages++
  trim(state)
}

/** The folder and branch that the client recorded: `"gitBranch":"main"` → main; "HEAD" is no branch. */
function readPlace(state: State, record: JsonObject | undefined): void {
  state.root ??= stringAt(record, 'cwd')
  const branch = stringAt(record, 'gitBranch')
  if (branch && branch !== 'HEAD' && branch !== state.repository.branch) state.repository.branch = oneLine(branch, 100)
}

function readAnswer(state: State, block: Block): void {
  if (isToolUse(block)) {
    noteCall(state, block)
    state.isAnswered = undefined
  }
  const text = isText(block) ? block.text.replace(thinking, '').trim() : ''
  if (text === '') return
  const words = wellFormed(withoutSecrets(text))
  const cause = state.unexplained === undefined ? '' : withoutAnnouncements(words)
  if (cause !== '') noteCause(state, condensed(cause, maxCause))
  const last = state.exchanges.at(-1)
  if (last) state.exchanges[state.exchanges.length - 1] = withReport(last, words)
  state.agentText = words
  state.isAnswered = true
}

/** "<think>Let me see.</think>Done." → "Done." */
const thinking = /<(think|thinking)>[\s\S]*?(?:<\/\1>|$)/g
/** Maximum characters of an explanation, a question, an approved plan, a message of the user and a report. */
const maxCause = 400
const maxAbout = 800
const maxPlan = 1_500
const maxWords = 6_000
const maxReport = 12_000
const maxSteps = 200
/**
 * Limits by type, so that old searches and reads do not push out words and actions of the agent. Of 13 searches, the last 12
 * are kept; of "read a.ts" and "read b.ts", the latter.
 */
const maxOfType: Partial<Record<Step['type'], number>> = { saw: 12, opened: 1 }
/** This many of the newest exchanges keep their steps. */
const exchangesWithSteps = 40

/**
 * The latest text becomes the report. The previous report becomes a step of type `said`, without its announcements: "Now let me
 * run the tests:" is dropped, "It is rusty. Now let me oil it:" → "It is rusty."
 */
function withReport(exchange: Exchange, text: string): Exchange {
  const steps = (exchange.steps ?? []).flatMap((step): readonly Step[] => {
    if (step.type !== 'reported') return [step]
    const lasting = withoutAnnouncements(step.text)
    return lasting.length < shortStatement ? [] : [{ type: 'said', text: lasting }]
  })
  const report = condensed(text, maxReport)
  return { ...withStep({ ...exchange, steps }, { type: 'reported', text: report }), report }
}

function noteStep(state: State, step: Step): void {
  const last = state.exchanges.at(-1)
  if (last) state.exchanges[state.exchanges.length - 1] = withStep(last, step)
}

/** A repeated step moves to its last place: "edited a.ts", "ran x", "edited a.ts" → "ran x", "edited a.ts". */
function withStep(exchange: Exchange, step: Step): Exchange {
  const others = (exchange.steps ?? []).filter(({ text }) => text !== step.text)
  const alike = others.filter(({ type }) => type === step.type)
  const oldest = alike.length >= (maxOfType[step.type] ?? maxSteps) ? alike[0] : undefined
  return { ...exchange, steps: [...others.filter((other) => other !== oldest).slice(1 - maxSteps), step] }
}

function readRequest(state: State, message: ViewMessage): void {
  if (interruption.test(textOf(message.content))) {
    noteStep(state, { type: 'did', text: interrupted })
    state.isAnswered = undefined
  }
  const kind = message.origin === 'agent' ? 'task' : message.attachment === 'queued_command' ? 'queued' : 'message'
  noteTyped(state, { kind, text: requestIn(message) }, message)
}

/** The text of a request, with its media named: "Like this?\n[image]". */
function requestIn({ content }: ViewMessage): string {
  const media = blocksOf(content).filter(isMedia)
  return [typedText(textOf(content)), ...media.map(({ type }) => `[${type}]`)].filter((part) => part !== '').join('\n')
}

/** The complete request without secrets. The ledger has a shorter form: it folds pasted blocks and cuts long texts. */
export function wholeRequest(message: ViewMessage): string {
  return wellFormed(withoutSecrets(requestIn(message)))
}

function noteTyped(state: State, words: Words, where: Where): void {
  if (isForTheAgent(words.text)) noteWords(state, words, where)
}

/** A result and the text "Use tabs." in one message → the user said "Use tabs." Text that the client added is marked `isMeta`. */
function readWordsBeside(state: State, message: ViewMessage, record: JsonObject | undefined): void {
  if (record?.isMeta === true || record?.sourceToolUseID !== undefined) return
  const text = typedText(textOf(blocksOf(message.content).filter(isText)))
  noteTyped(state, { kind: 'queued', text }, message)
}

type Where = Pick<ViewMessage, 'uuid'> & { readonly last?: number }

function noteWords(state: State, words: Words, { uuid, last = state.messages }: Where): void {
  const { kind } = words
  const about = words.about ?? (isTyped(words) ? questionBehind(words.text, state.agentText) : undefined)
  const said = condensed(foldPasted(wellFormed(withoutSecrets(words.text))), maxWords)
  const exchange: Exchange = {
    kind,
    text: said,
    // A plan may be longer than a question, because the user approved all of it.
    ...(about === undefined
      ? {}
      : { about: condensed(wellFormed(withoutSecrets(about)), kind === 'approval' ? maxPlan : maxAbout) }),
    last,
    ...(uuid === undefined ? {} : { uuid }),
    ...(saysSomethingLasting(said) ? { lasts: true } : {}),
  }
  // A message that a compaction kept is read again. It replaces the first reading.
  const isKnown = (other: Exchange) =>
    uuid !== undefined && other.uuid === uuid && other.kind === kind && other.text === said
  state.exchanges = [...state.exchanges.filter((other) => !isKnown(other)), exchange]
  const old = state.exchanges.at(-exchangesWithSteps)
  if (old?.steps) state.exchanges[state.exchanges.length - exchangesWithSteps] = withoutSteps(old)
  state.agentText = ''
  state.isAnswered = undefined
  for (const rule of rulesIn(words.text)) {
    const text = oneLine(rule, 400)
    // "Never push!" and "never push" are one rule. The key comes from the stored text, so that it is the same after a ledger
    // was read back.
    const key = plainWords(text)
    // A repeated rule keeps its first wording and entry, and becomes the newest rule.
    const known = state.rules.get(key)
    const by = kind === 'task' ? 'agent' : 'human'
    const fresh = { text, by, ...(uuid === undefined ? {} : { uuid }) } as const
    state.rules.delete(key)
    if (key.trim() !== '') state.rules.set(key, { ...(known ?? fresh), last })
  }
}
