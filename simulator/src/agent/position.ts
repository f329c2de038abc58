// The agent's position in its tasks, read only from the messages of a request. The agent remembers nothing, so after a compaction
// it continues as well as the request allows, like a model.
import type { Block, Message } from 'everlong'
import { blocksOf, isText, isToolResult, isToolUse, textOf } from 'everlong/internal'
import type { Bug } from '../repository/repository.ts'

/** Tasks count from 1, steps from 0. A finished task has the step `Infinity`. */
export type Position = { readonly task: number; readonly step: number }

/** The two marks of an agent: in the ids of its tool uses, and in some of its texts, which summaries quote. */
export function toolId(at: Position, call: { readonly turn: number; readonly index: number }): string {
  // The turn keeps ids unique when a compaction has lost the marks and the agent starts over at task 1.
  return `toolu_t${at.task}_s${at.step}_${call.turn}_${call.index}`
}

export function textMark(at: Position): string {
  return Number.isFinite(at.step) ? `[task ${at.task}, step ${at.step}]` : `[task ${at.task}, done]`
}

/**
 * The next step: the one after the last if the request has tool results or a summary of an unfinished task, otherwise the first
 * step of a new task.
 */
export function nextPosition(messages: readonly Message[]): Position {
  const lastAnswer = lastAnswerOf(messages)
  const said = saidSince(messages, lastAnswer)
  const quoted = latestOf(said.flatMap(marksIn))
  const last = latestOf([...(quoted ? [quoted] : []), ...marksBefore(messages, lastAnswer)])
  if (!last) return { task: 1, step: 0 }
  const isContinued = said.some(isToolResult) || quoted !== undefined || said.length === 0
  return isContinued && Number.isFinite(last.step)
    ? { task: last.task, step: last.step + 1 }
    : { task: last.task + 1, step: 0 }
}

/** True if the next answer is the first since a person or a summary last spoke. */
export function beginsTurn(messages: readonly Message[]): boolean {
  return !saidSince(messages, lastAnswerOf(messages)).some(isToolResult)
}

const lastAnswerOf = (messages: readonly Message[]) => messages.findLastIndex((message) => message.role === 'assistant')

function saidSince(messages: readonly Message[], answer: number): readonly Block[] {
  return messages.slice(answer + 1).flatMap((message) => blocksOf(message.content))
}

/** Marks only grow, so the newest message with a mark is enough. */
function marksBefore(messages: readonly Message[], from: number): readonly Position[] {
  for (let at = from; at >= 0; at--) {
    const marks = blocksOf(messages[at]?.content).flatMap(marksIn)
    if (marks.length > 0) return marks
  }
  return []
}

function marksIn(block: Block): readonly Position[] {
  if (isToolUse(block)) {
    const found = /^toolu_t(\d+)_s(\d+)_/.exec(block.id)
    return found ? [{ task: Number(found[1]), step: Number(found[2]) }] : []
  }
  if (!isText(block)) return []
  return [...block.text.matchAll(/\[task (\d+), (?:step (\d+)|done)\]/g)].map((found) => ({
    task: Number(found[1]),
    step: found[2] === undefined ? Number.POSITIVE_INFINITY : Number(found[2]),
  }))
}

/** The sections of a summary are not in order of time, so the furthest mark counts, not the last. */
function latestOf(marks: readonly Position[]): Position | undefined {
  return marks.toSorted((a, b) => a.task - b.task || a.step - b.step).at(-1)
}

/**
 * The current bug: the first that the newest test run in sight reports, or, where a reduction cleared that result, the
 * one whose file the agent's own calls since were about. Undefined when the newest test run passed.
 */
export function bugInSight(messages: readonly Message[], bugs: readonly Bug[]): Bug | undefined {
  for (const message of messages.toReversed()) {
    for (const block of blocksOf(message.content).toReversed()) {
      const seen = isToolUse(block) ? JSON.stringify(block.input) : isToolResult(block) ? textOf(block.content) : ''
      if (/\n {6}Tests {2}\d+ passed/.test(seen)) return undefined
      const found = isToolUse(block)
        ? bugs.find((bug) => seen.includes(bug.path) || seen.includes(bug.testPath))
        : firstReported(seen, bugs)
      if (found) return found
    }
  }
  return undefined
}

function firstReported(seen: string, bugs: readonly Bug[]): Bug | undefined {
  if (!seen.includes(' FAIL  ')) return undefined
  const places = bugs.map((bug) => seen.indexOf(` FAIL  ${bug.testPath} > ${bug.testName}`))
  const first = Math.min(...places.filter((place) => place >= 0))
  return bugs[places.indexOf(first)]
}
