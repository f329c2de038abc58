// A scripted coding agent: works through a generated repository with tool calls, one user task after another, and always the same
// for the same seed. Like any script, it sees requests, never files.
import type { Message } from 'everlong'
import { blocksOf, type JsonObject, stringAt } from 'everlong/internal'
import type { Bug, Repository } from '../repository/repository.ts'
import {
  type InputName,
  inputNameIn,
  offeredTools,
  stringInput,
  type Tool,
  toolNamed,
} from '../repository/tool-names.ts'
import { combine, text, thinking, toolUse } from '../script/answers.ts'
import { integerBelow, pick, type Random, type Seed, seededRandom } from '../script/random.ts'
import type { Answer, Script, ScriptRequest, ToolDefinition } from '../script/script.ts'
import { inputFor } from './any-tool.ts'
import { type Call, callsOf, type Habit, type Move, moveAt, type Place, type Scene, sparesFor } from './moves.ts'
import { beginsTurn, bugInSight, nextPosition, type Position, textMark, toolId } from './position.ts'
import { answerInSight, lookupFor, openQuestion, type Question } from './question.ts'
import { textsIn } from './sight.ts'
import { wishedPlace } from './wish.ts'

export type AgentOptions = {
  readonly repository: Repository
  readonly seed?: Seed
  /** Number of answers per task, the last one without tools. Default: 12, at least 1. */
  readonly turnsPerTask?: number
  /**
   * The share of answers to tool results that begin with thinking, from 0 to 1: 0.3 by default. The first answer of
   * a turn always does, since the API wants it back there; 0 is for no thinking at all. A server leaves thinking out
   * where the request did not ask for it.
   */
  readonly thinking?: number
  /** Its main activity. Default: a bit of everything. */
  readonly habit?: Habit
  /**
   * What it needs to change a file: `'nothing'` by default, because it knows the repository. With `'sight'` the part to
   * change must be in the request, or the agent spends an answer on reading it; it does what a person asked for
   * (`wishText`) as far as the request still says it, and looks up what a person asks about earlier tasks (`questionText`).
   */
  readonly needs?: 'nothing' | 'sight'
  /** Whether it also calls unknown tools: every third call, and all calls if it knows none. */
  readonly callsAnyTool?: boolean
  /** With `needs: 'sight'`, the share of changes before which it reads again what it already sees. Default: 0. */
  readonly rereads?: number
}

/**
 * Every answer is a function of the request, the seed and, for the ids of tool uses, the turn. A request without callable tools
 * ends the task at once.
 */
export function agent(options: AgentOptions): Script {
  const turns = Math.max(1, Math.floor(options.turnsPerTask ?? 12))
  return (request, context) => {
    const at = nextPosition(request.messages)
    const random = seededRandom('agent', options.seed ?? 1, at.task, at.step)
    const offered = offeredTools(request.tools)
    const share = options.thinking ?? 0.3
    const thinks = random() < (share > 0 && beginsTurn(request.messages) ? 1 : share)
    const unknown = options.callsAnyTool ? request.tools.filter(({ name }) => toolNamed(name) === undefined) : []
    const hasTools = offered.size + unknown.length > 0
    const question = options.needs === 'sight' ? openQuestion(request.messages) : undefined
    if (question) return answerTo(question, { at, request, turn: context.turn })
    if (at.step >= turns - 1 || !hasTools) return lastAnswer({ at, request, hasTools })
    const other = unknown[Math.floor(at.step / (offered.size === 0 ? 1 : 3)) % unknown.length]
    if (other && (offered.size === 0 || at.step % 3 === 2)) {
      const id = toolId(at, { turn: context.turn, index: 0 })
      return combine(text(`I ask ${other.name}. ${textMark(at)}`), toolUse(other.name, inputFor(other), id))
    }
    const place = placeIn(request.messages, options)
    const { move, mark } = stepBySight(at, { turns, place, options })
    const scene: Scene = { repository: options.repository, random, place, ...at }
    const calls = callsOf(move, scene).map((call) => realised({ call, scene, offered }))
    const named = calls.map(({ name, input }, index) =>
      toolUse(name, input, toolId(mark, { turn: context.turn, index })),
    )
    return combine(
      ...(thinks ? [thinking(thought(move, scene))] : []),
      ...(speaksAt(mark, random) ? [text(`${remarks[move]} ${textMark(mark)}${reportIn(options, scene)}`)] : []),
      ...named,
    )
  }
}

type Asked = { readonly at: Position; readonly request: ScriptRequest; readonly turn: number }

/** From the request, otherwise from a tool, a few times. The agent does not know what it cannot find. */
function answerTo(question: Question, { at, request, turn }: Asked): Answer {
  const { messages, tools } = request
  const found = answerInSight(messages, question)
  const call = found === undefined && at.step < maxLookups ? lookupFor(messages, question, tools) : undefined
  if (call) return toolUse(call.name, call.input, toolId(at, { turn, index: 0 }))
  const mark = textMark({ task: at.task, step: Number.POSITIVE_INFINITY })
  return text(found === undefined ? `I no longer know. ${mark}` : `It was: ${found} ${mark}`)
}

const maxLookups = 4

function placeIn(messages: readonly Message[], { repository, needs }: AgentOptions): Place | undefined {
  const bug = () => bugInSight(messages, repository.bugs)
  return needs === 'sight' ? (wishedPlace(messages) ?? seenOnly(bug(), messages)) : bug()
}

function seenOnly(bug: Bug | undefined, messages: readonly Message[]): Place | undefined {
  const isSeen = bug && textsIn(messages).some((text) => text.includes(bug.wrong))
  return bug && { ...bug, wrong: isSeen ? bug.wrong : undefined }
}

type Sight = { readonly turns: number; readonly place: Place | undefined; readonly options: AgentOptions }

/**
 * The move of a step and the step it counts as. By sight, reading the place is left out where it is seen, and comes once
 * more before the change where it is not: then as the step before, so that the change is still to come.
 */
function stepBySight(at: Position, { turns, place, options }: Sight): { readonly move: Move; readonly mark: Position } {
  const { habit, needs, seed = 1, rereads = 0 } = options
  const moveOf = (step: number) => moveAt(step, turns - 1, habit)
  const move = moveOf(at.step)
  if (needs !== 'sight' || !place) return { move, mark: at }
  if (move === 'mend' && place.wrong === undefined) return { move: 'study', mark: { ...at, step: at.step - 1 } }
  const isSpared = move === 'study' && place.wrong !== undefined && at.step + 1 < turns - 1
  if (!isSpared || seededRandom('rereads', seed, place.path, place.symbol)() < rereads) return { move, mark: at }
  return { move: moveOf(at.step + 1), mark: { ...at, step: at.step + 1 } }
}

/** Not every answer has text, but there is never a long gap, because summaries quote it and the agent continues from it. */
function speaksAt(at: Position, random: Random): boolean {
  return at.step % 3 === 0 || random() < 0.3
}

/** Agents with long outputs explain themselves at length. */
function reportIn({ habit }: AgentOptions, { random, repository }: Scene): string {
  if (habit !== 'long-outputs') return ''
  const paths = [...repository.files.keys()]
  const sentences = Array.from({ length: 15 + integerBelow(random, 30) }, () => {
    const path = paths[integerBelow(random, paths.length)] ?? 'README.md'
    return `${path} was looked at: ${pick(random, findings)}.`
  })
  return `\n\n${sentences.join(' ')}`
}

const findings: readonly [string, ...string[]] = [
  'nothing there touches the failing test',
  'its limit is read once and never again',
  'two callers rely on the order it keeps',
  'the change there would be larger than the mistake',
]

type Offered = ReadonlyMap<Tool, ToolDefinition>

/** Translates the call to the offered tools, or finds the best substitute. There is always one. */
function realised(wish: { readonly call: Call; readonly scene: Scene; readonly offered: Offered }): {
  readonly name: string
  readonly input: JsonObject
} {
  const { call, scene, offered } = wish
  const made = [call, ...sparesFor(call, scene)].find((candidate) => offered.has(candidate.tool))
  const definition = made && offered.get(made.tool)
  if (!made || !definition) throw new Error('An agent was asked to act without any tool it knows.')
  const input: Record<string, unknown> = { ...made.others }
  for (const [name, value] of Object.entries(made.named)) input[inputNameIn(definition, name as InputName)] = value
  return { name: definition.name, input }
}

function lastAnswer(ending: {
  readonly at: Position
  readonly request: ScriptRequest
  readonly hasTools: boolean
}): Answer {
  const { at, request, hasTools } = ending
  const mark = textMark({ task: at.task, step: Number.POSITIVE_INFINITY })
  if (!hasTools) return text(`I have no tools for this, so I stop here. ${mark}`)
  const changed = changedFiles(request)
  const what = changed.length === 0 ? 'No file needed a change.' : `Changed: ${changed.join(', ')}.`
  return text(`The task is finished. ${what} ${mark}`)
}

/** The files changed since the last task ended, as far as the request still shows. */
function changedFiles(request: ScriptRequest): readonly string[] {
  const paths = new Set<string>()
  for (const message of request.messages.toReversed()) {
    for (const block of blocksOf(message.content)) {
      if (message.role === 'assistant' && /\[task \d+, done\]/.test(stringAt(block, 'text') ?? ''))
        return [...paths].toReversed()
      const tool = block.type === 'tool_use' ? toolNamed(String(block.name)) : undefined
      const path = tool === 'Edit' || tool === 'Write' ? stringInput(block.input, 'path') : undefined
      if (path !== undefined) paths.add(path)
    }
  }
  return [...paths].toReversed()
}

function thought(move: Move, scene: Scene): string {
  const about = scene.place ? `${scene.place.symbol} in ${scene.place.path}` : 'the state of the repository'
  return pick(scene.random, [
    `Next: ${move}. The question is ${about}; what I have seen so far points there, but I have not proven it.`,
    `I should ${move} before I assume anything about ${about}.`,
    `If ${about} is at fault, the tests that touch it will say so. So ${move} first, then decide.`,
  ])
}

const remarks: Readonly<Record<Move, string>> = {
  plan: 'I note down what is to be done.',
  test: 'I run the tests to see what fails.',
  look: 'I look for where this is used.',
  study: 'I read the source before I change it.',
  mend: 'This is the place; I change it.',
  verify: 'I run the tests again.',
  explore: 'I look around for more of the kind.',
  review: 'I bring the list up to date.',
  browse: 'I read what stands around it.',
  draft: 'I write down what is missing.',
  build: 'I build it all.',
}
