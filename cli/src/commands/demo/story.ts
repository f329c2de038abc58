// The story: the lines that the person types, and how each is carried out. Everything in between is done by the agent and the
// engine, and only shown here.

import { isDeepStrictEqual } from 'node:util'
import { type LoopEvent, query } from '@everlong/agent'
import { count, counted, withoutRoot } from '@everlong/agent/render'
import { type JsonObject, stringAt, textOf, type ViewMessage } from 'everlong/internal'
import type { Explanation } from 'everlong/internal/compaction'
import { type Chronicle, restorationInWords } from './acts.ts'
import type { Board } from './board.ts'
import { actLines, agentLines, callLine, gaugeLine, personLines, typingLine } from './lines.ts'
import type { Pace } from './pace.ts'
import type { Stage } from './stage.ts'
import { rule } from './words.ts'

export type Show = {
  readonly stage: Stage
  readonly board: Board
  readonly pace: Pace
  readonly chronicle: Chronicle
  readonly signal: AbortSignal
}

type Line =
  | { readonly type: 'ask'; readonly text: string; readonly pasted?: string }
  | { readonly type: 'compact'; readonly instructions: string }
  | { readonly type: 'undo' }

function linesFor({ question, log }: Stage): readonly Line[] {
  return [
    { type: 'ask', text: `Make the tests pass, one failure at a time. ${rule}` },
    { type: 'ask', text: 'Good. Take the next failure.' },
    { type: 'ask', text: 'Go on with the next one.' },
    { type: 'ask', text: "This is last night's build log. One more failure, then we stop.", pasted: log },
    { type: 'ask', text: question },
    { type: 'compact', instructions: 'Keep the names of the failing tests.' },
    { type: 'undo' },
  ]
}

/** The displayed form: a pasted text is shown as its size. */
function formatNumber(line: Line): string {
  if (line.type === 'undo') return '/undo'
  if (line.type === 'compact') return `/compact ${line.instructions}`
  return line.pasted === undefined ? line.text : `${line.text} [pasted: ${counted(linesIn(line.pasted), 'line')}]`
}

function linesIn(text: string): number {
  return text.trimEnd().split('\n').length
}

/** Ends early when it is stopped. */
export async function playStory(show: Show): Promise<void> {
  const { session } = show.stage
  let before: readonly ViewMessage[] = []
  for (const line of linesFor(show.stage)) {
    if (show.signal.aborted) return
    await say(show, formatNumber(line))
    if (line.type === 'ask') await ask(show, line.pasted === undefined ? line.text : `${line.text}\n\n${line.pasted}`)
    else if (line.type === 'undo') await undo(show, before)
    else {
      before = session.messages()
      const outcome = await session.compact({ instructions: line.instructions, signal: show.signal })
      if (outcome.type === 'compacted') noteRestored(show, outcome.records)
    }
    await tellActs(show)
  }
}

async function say(show: Show, text: string): Promise<void> {
  const { board, pace, stage } = show
  board.print(() => [''])
  if (pace.isSlow) {
    for (const [at] of [...text].entries()) {
      board.live((screen) => typingLine([...text].slice(0, at + 1).join(''), screen))
      await pace.after('letter')
    }
  }
  liveGauge(show, stage.session.explain())
  board.print((screen) => personLines(text, screen))
  await pace.after('person')
}

async function ask(show: Show, text: string): Promise<void> {
  const { stage, signal } = show
  const { session, tools } = stage
  const inputs = new Map<string, unknown>()
  let records: readonly JsonObject[] = []
  session.add({ role: 'user', content: text })
  for await (const event of query({ session, tools, signal })) {
    if (event.type === 'record') records = [...records, event.record]
    if (event.type === 'answer') {
      noteRestored(show, records)
      records = []
      // If nobody watches, waits for notes, so that the story is always the same.
      if (!show.pace.isSlow) await session.idle()
    }
    await tellActs(show)
    if (event.type === 'tool-started') inputs.set(event.toolUseId, event.input)
    await tell(show, event, inputs)
  }
}

function noteRestored({ stage, chronicle }: Show, records: readonly JsonObject[]): void {
  const words = restorationInWords(records)
  if (words !== undefined) chronicle.add({ name: 'restoration', words, explanation: stage.session.explain() })
}

async function tell(show: Show, event: LoopEvent, inputs: ReadonlyMap<string, unknown>): Promise<void> {
  const { stage, board, pace } = show
  const { session, repository } = stage
  if (event.type === 'answer') {
    liveGauge(show, session.explain())
    const words = withoutRoot(textOf(event.answer.content), repository.root)
    board.print((screen) => agentLines(words, screen))
    if (words.trim() !== '') await pace.after('answer')
  }
  if (event.type === 'tool-finished') {
    const { name, toolUseId, isError } = event
    const call = { name, input: inputs.get(toolUseId), output: textOf(event.content), isError }
    board.print((screen) => [callLine(call, repository.root, screen)])
    if (name === 'recall') noteRecall(show, call.input)
    await pace.after('call')
  }
  if (event.type === 'notice') board.print((screen) => agentLines(event.text, screen))
  if (event.type === 'failed') board.print((screen) => agentLines(`No answer: ${event.failure.message}`, screen))
  if (event.type === 'blocked') board.print((screen) => agentLines(event.why, screen))
}

function liveGauge({ board }: Show, explanation: Explanation): void {
  board.live((screen) => gaugeLine(explanation, screen))
}

async function tellActs(show: Show): Promise<void> {
  const { chronicle, board, pace } = show
  for (const act of chronicle.take()) {
    // An act has its own gauge, and one is enough.
    board.live(() => '')
    board.print((screen) => actLines(act, screen))
    await pace.after('act')
    liveGauge(show, act.explanation)
  }
}

/** Checks whether the agent's finding is still in the context instead of assuming it. */
function noteRecall({ stage, chronicle }: Show, input: unknown): void {
  const { session } = stage
  const [first] = stage.search(input)
  if (first === undefined) return
  const isGone = !session.messages().some(({ uuid }) => uuid === first.uuid)
  const where = isGone ? 'a message that is no longer in the context' : 'a message of the context'
  const what = `“${stringAt(input, 'query')}” found in ${where}`
  chronicle.add({
    name: 'recall',
    words: `${what}; only what was asked for comes back`,
    explanation: session.explain(),
  })
}

async function undo({ stage, chronicle }: Show, before: readonly ViewMessage[]): Promise<void> {
  const { session } = stage
  const { tokens } = session.explain().size
  const outcome = await session.undo()
  const explanation = session.explain()
  if (outcome.type === 'nothing-to-undo') {
    chronicle.add({ name: 'trouble', words: 'there is nothing to undo', explanation })
    return
  }
  const isAsBefore = isDeepStrictEqual(contents(session.messages().slice(0, before.length)), contents(before))
  const sizes = `${count(tokens)} → ${count(explanation.size.tokens)} tokens`
  const view = isAsBefore ? 'every message it removed is back, word for word' : 'the view is another one than before'
  chronicle.add({
    name: 'undo',
    words: `the last ${outcome.change.type} is taken back, ${sizes}; ${view}`,
    explanation,
  })
}

function contents(messages: readonly ViewMessage[]): readonly unknown[] {
  return messages.map(({ role, content }) => ({ role, content }))
}
