// A person's question about the agent's earlier work, and how an agent that works by sight finds the answer: in the request,
// otherwise through a tool. It does not know what it cannot find.
import type { Block, Message } from 'everlong'
import { blocksOf, isText, isToolResult, isToolUse, type JsonObject, stringAt, textOf } from 'everlong/internal'
import { inputNameIn, offeredTools, stringInput, toolNamed } from '../repository/tool-names.ts'
import type { ToolDefinition } from '../script/script.ts'
import { textsIn } from './sight.ts'
import { type Wish, wishesIn } from './wish.ts'

export type Question = {
  /** Counts together with the wishes. */
  readonly task: number
  /** The task in question. */
  readonly about: number
  /** `line`: the line that it wrote, which a file may still contain. `run`: the duration of a test run, which no later run repeats. */
  readonly what: 'line' | 'run'
}

export function questionText({ task, about, what }: Question): string {
  const asked =
    what === 'line'
      ? `which line did you write in task ${about}`
      : `how long did the tests of your file take in task ${about}`
  return `Task ${task}, a question: ${asked}?`
}

const questionWords =
  /Task (\d+), a question: (?:which line did you write in task (\d+)|how long did the tests of your file take in task (\d+))\?/g

function questionsIn(text: string): readonly Question[] {
  if (!text.includes(', a question: ')) return []
  return [...text.matchAll(questionWords)].map(([, task, line, run]) => ({
    task: Number(task),
    about: Number(line ?? run),
    what: line === undefined ? 'run' : 'line',
  }))
}

/** The question to answer now: newer than every wish. */
export function openQuestion(messages: readonly Message[]): Question | undefined {
  const said = messages.flatMap(({ role, content }) =>
    role === 'user' ? blocksOf(content).flatMap((block) => (isText(block) ? [block.text] : [])) : [],
  )
  const newest = said
    .flatMap(questionsIn)
    .toSorted((a, b) => a.task - b.task)
    .at(-1)
  const isOpen = newest && said.flatMap(wishesIn).every(({ task }) => task < newest.task)
  return isOpen ? newest : undefined
}

/** The line or the time, as far as the request shows it. */
export function answerInSight(messages: readonly Message[], question: Question): string | undefined {
  const texts = textsIn(messages)
  if (question.what === 'run')
    return runsIn(messages, question.about)
      .flatMap(({ shown }) => tookIn(shown))
      .at(-1)
  const wish = wishOf(texts, question)
  if (!wish) return undefined
  const line = new RegExp(`^.*\\.version > ${wish.over}\\).*$`, 'm')
  const found = texts.toReversed().flatMap((text) => line.exec(text)?.[0] ?? [])[0]
  return found?.replace(/^ *\d+[\t→]/, '').trim()
}

/** The last line of a test runner. */
export function tookIn(output: string): readonly string[] {
  return [...output.matchAll(/ Duration {2}(\d+\.\d+s)/g)].map((found) => found[1] ?? '')
}

function wishOf(texts: readonly string[], { about }: Question): Wish | undefined {
  return texts.flatMap(wishesIn).find(({ task }) => task === about)
}

type Run = { readonly id: string; readonly shown: string }

/** The runs of a file's own tests in a task: the calls, and what the request shows of their results. */
function runsIn(messages: readonly Message[], task: number): readonly Run[] {
  const blocks = messages.flatMap(({ content }) => blocksOf(content))
  const resultOf = (id: string) => blocks.filter(isToolResult).find(({ tool_use_id }) => tool_use_id === id)
  const shownBy = (id: string) => textOf(resultOf(id)?.content ?? '')
  const ofTask = (id: string | undefined) => id?.startsWith(`toolu_t${task}_`) ?? false
  return blocks.filter(isToolUse).flatMap(({ id, name, input }): readonly Run[] => {
    const recalled = stringAt(input, 'read')
    if (isRecall(name) && recalled !== undefined && ofTask(recalled)) return [{ id: recalled, shown: shownBy(id) }]
    return ofTask(id) && ownTests.test(stringInput(input, 'command') ?? '') ? [{ id, shown: shownBy(id) }] : []
  })
}

const ownTests = /^npm test -- \S+/
const isRecall = (name: string) => /(^|_)recall$/.test(name)

export type Lookup = { readonly name: string; readonly input: JsonObject }

/**
 * The next call that may find the answer, each made once: reading by a known id, searching, or reading the file again. Undefined
 * if there is none, because a lost test run cannot be repeated.
 */
export function lookupFor(
  messages: readonly Message[],
  question: Question,
  tools: readonly ToolDefinition[],
): Lookup | undefined {
  const texts = textsIn(messages)
  const wish = wishOf(texts, question)
  const recall = tools.find(({ name }) => isRecall(name))
  const reading = offeredTools(tools).get('Read')
  const searches = recall ? recallsFor(messages, question, wish).map((input) => ({ name: recall.name, input })) : []
  const readings =
    reading && wish && question.what === 'line'
      ? [{ name: reading.name, input: { [inputNameIn(reading, 'path')]: wish.path } }]
      : []
  const made = new Set(callsOfTask(messages, question.task).map(keyOf))
  return [...readings, ...searches].find((call) => !made.has(keyOf(call)))
}

function recallsFor(messages: readonly Message[], question: Question, wish: Wish | undefined): readonly JsonObject[] {
  const asked = { query: `Task ${question.about}: let keep versions` }
  if (!wish) return [asked]
  if (question.what === 'line') return [{ query: `${wish.symbol} version ${wish.over}` }]
  const words = `npm test -- ${wish.path.replace(/\.ts$/, '.test.ts')}`
  const known = [...runsIn(messages, question.about).map(({ id }) => id), ...idsFound(messages, question)]
  return [...[...new Set(known)].toReversed().map((read) => ({ read })), { query: words }]
}

/** Ids of the task in question that a search of this task has found. */
function idsFound(messages: readonly Message[], { task, about }: Question): readonly string[] {
  const own = new Set(callsOfTask(messages, task).map(({ id }) => id))
  const results = messages.flatMap(({ content }) => blocksOf(content).filter(isToolResult))
  const texts = results.filter(({ tool_use_id }) => own.has(tool_use_id)).map(({ content }) => textOf(content))
  return texts.flatMap((text) =>
    [...text.matchAll(new RegExp(`toolu_t${about}_s\\d+_\\d+_\\d+`, 'g'))].map(([id]) => id),
  )
}

function callsOfTask(messages: readonly Message[], task: number) {
  const uses = messages.flatMap(({ content }) => blocksOf(content as readonly Block[]).filter(isToolUse))
  return uses.filter(
    ({ id, name }) => id.startsWith(`toolu_t${task}_`) && (isRecall(name) || toolNamed(name) === 'Read'),
  )
}

const keyOf = ({ name, input }: { readonly name: string; readonly input: unknown }) => JSON.stringify([name, input])
