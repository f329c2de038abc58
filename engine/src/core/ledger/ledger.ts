// The ledger: facts that code can read off a conversation, message by message. It calls no model and guesses nothing:
// every fact is in the messages it was given. Rendering, merging and storing are next door.
import { type Block, blocksOf, isText, isToolResult, isToolUse, textOf } from '../message/block.ts'
import { type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { noteCall, noteResult } from './calls.ts'
import { emptyLedger, type Ledger } from './facts.ts'
import { constraintsIn, decisionsIn, tellingsIn } from './sayings.ts'
import { createState, ledgerOf, noteFile, noteNames, noteSaying, noteTyped, type State, trimState } from './state.ts'
import { oneLine } from './text.ts'

export type LedgerBook = {
  /**
   * Reads one message. The transcript record it came from may be given too: it holds what the model did not see, such
   * as exit codes, line ranges and patches. Constant time for each message, whatever came before.
   */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** The facts so far. */
  readonly ledger: () => Ledger
}

/** An empty ledger to write into, or one that goes on from an earlier one. */
export function createLedger(from: Ledger = emptyLedger): LedgerBook {
  const state = createState(from)
  return {
    add: (message, record) => addMessage(state, message, record),
    ledger: () => ledgerOf(state),
  }
}

function addMessage(state: State, message: ViewMessage, record: JsonObject | undefined): void {
  readPlace(state, record)
  switch (message.origin) {
    case 'assistant':
      for (const block of blocksOf(message.content)) readAnswer(state, block, message.uuid)
      break
    case 'tool-result':
      for (const block of blocksOf(message.content)) {
        if (isToolResult(block)) noteResult(state, block, record?.toolUseResult)
      }
      break
    case 'human':
    case 'agent':
      readRequest(state, message)
      break
    case 'summary':
      noteNames(state, textOf(message.content), talk('summary', 1))
      break
    case 'attachment':
      readAttachment(state, message, record)
      break
    case 'meta':
      noteNames(state, textOf(message.content), talk('context', 0))
  }
  state.messages++
  trimState(state, 2)
}

/** Where the client says it stands. */
function readPlace(state: State, record: JsonObject | undefined): void {
  state.root ??= stringAt(record, 'cwd')
  const branch = stringAt(record, 'gitBranch')
  if (branch && branch !== 'HEAD' && branch !== state.repository.branch) {
    state.repository = { ...state.repository, branch: oneLine(branch, 100) }
  }
}

function talk(
  name: 'human' | 'assistant' | 'summary' | 'context' | 'agent',
  homeRank: number,
  by?: 'written' | 'asked',
) {
  return { home: { type: 'talk', name }, homeRank, written: by === 'written', asked: by === 'asked' } as const
}

function readAnswer(state: State, block: Block, uuid: string | undefined): void {
  if (isToolUse(block)) noteCall(state, block)
  if (!isText(block)) return
  noteNames(state, block.text, talk('assistant', 1, 'written'))
  for (const text of decisionsIn(block.text)) {
    noteSaying(state, state.decisions, { text: oneLine(text, 320), by: 'assistant', ...(uuid ? { uuid } : {}) })
  }
}

/** What another agent asks binds as well; its words are no person's. */
function readRequest(state: State, { origin, content, uuid }: ViewMessage): void {
  const text = textOf(content)
  const by = origin === 'human' ? 'human' : 'assistant'
  noteNames(state, text, talk(origin === 'human' ? 'human' : 'agent', 2, 'asked'))
  const source = uuid ? { uuid } : {}
  const rules = constraintsIn(text)
  const told = tellingsIn(text)
  noteTyped(state, text, { ...source, ...(rules.length + told.length > 0 ? { tells: true } : {}) })
  for (const rule of rules) noteSaying(state, state.constraints, { text: oneLine(rule, 400), by, ...source })
  for (const words of told) noteSaying(state, state.decisions, { text: oneLine(words, 320), by, ...source })
}

/** A file the client put into the context counts as read; anything else only lends its names. */
function readAttachment(state: State, message: ViewMessage, record: JsonObject | undefined): void {
  const file = objectAt(objectAt(objectAt(record, 'attachment'), 'content'), 'file')
  const path = stringAt(file, 'filePath')
  if (file === undefined || path === undefined) {
    // Objects come as JSON, where a line end would stick to the word behind it.
    noteNames(state, textOf(message.content).replace(/\\[nrt]/g, ' '), talk('context', 0))
    return
  }
  const start = numberAt(file, 'startLine') ?? 1
  const shown = numberAt(file, 'numLines')
  noteFile(state, path, {
    act: 'read',
    seen: shown === undefined ? undefined : [start, start + shown - 1],
    lines: numberAt(file, 'totalLines'),
  })
  noteNames(state, stringAt(file, 'content') ?? '', { home: { type: 'file', name: path }, homeRank: 4 })
}
