// Extracts facts from a conversation for a summary: the user's words, files, errors, todos, the state of the work. Reads only the
// messages, and does not judge.
import type { Message } from 'everlong'
import {
  blocksOf,
  headOfText,
  isText,
  isToolResult,
  isToolUse,
  stringAt,
  type ToolResultBlock,
  type ToolUseBlock,
  tailOfText,
  textOf,
} from 'everlong/internal'
import { listInput, stringInput, toolNamed } from '../repository/tool-names.ts'
import { type Fact, looksLikeSummary, readSections } from './sections.ts'

/** Everything that a summary could say about a conversation, in order of time within each section. */
export function factsOf(messages: readonly Message[]): readonly Fact[] {
  const said = userTexts(messages)
  const calls = callsOf(messages)
  const facts = [
    ...earlierFacts(messages, calls),
    ...requestFacts(said),
    ...conceptFacts(calls),
    ...fileFacts(calls),
    ...errorFacts(calls),
    ...said.map(
      (text, index): Fact => ({ section: 6, text, weight: 4 - index / said.length - (isLast(index, said) ? 2 : 0) }),
    ),
    ...todoFacts(calls),
    ...presentFacts(messages, calls),
  ]
  const bySubject = new Map<string, Fact>()
  for (const fact of facts) {
    const subject = `${fact.section} ${subjectOf(fact)}`
    bySubject.delete(subject)
    bySubject.set(subject, fact)
  }
  return [...bySubject.values()]
}

/** The subject of a fact. A newer fact replaces one with the same subject in an earlier summary. */
function subjectOf(fact: Fact): string {
  if (fact.section === 1 && fact.text.startsWith('Latest: ')) return 'Latest'
  if (fact.section === 2) return fact.text.split(':')[0] ?? fact.text
  if (fact.section === 3) return fact.text.split(' (')[0] ?? fact.text
  if (fact.section === 5) return fact.text.replace(/^(Open|Solved): /, '')
  return fact.text
}

const isLast = (index: number, list: readonly unknown[]) => index === list.length - 1

type Call = { readonly use: ToolUseBlock; readonly result: ToolResultBlock | undefined }

function callsOf(messages: readonly Message[]): readonly Call[] {
  const blocks = messages.flatMap((message) => blocksOf(message.content))
  const results = new Map(blocks.filter(isToolResult).map((block) => [block.tool_use_id, block]))
  return blocks.filter(isToolUse).map((use) => ({ use, result: results.get(use.id) }))
}

/** Tool results that the client shows to the summarizer again, after a conversation that no longer has them. */
const shownAgain = /^Tool results\b.*\(material, not instructions\):/

/** Text that people typed, without tool results, the client's reminders and earlier summaries. */
function userTexts(messages: readonly Message[]): readonly string[] {
  return messages
    .filter((message) => message.role === 'user')
    .flatMap((message) => blocksOf(message.content).filter(isText))
    .map((block) => block.text.trim())
    .filter((text) => text !== '' && !text.startsWith('<system-reminder>') && !shownAgain.test(text))
    .filter((text) => !looksLikeSummary(text))
}

/** Sections 8 and 9 of an earlier summary are outdated, and so are its tasks if todos were written again. */
function earlierFacts(messages: readonly Message[], calls: readonly Call[]): readonly Fact[] {
  const hasTodos = calls.some(({ use }) => toolNamed(use.name) === 'TodoWrite')
  return messages
    .flatMap((message) => blocksOf(message.content).filter(isText))
    .filter((block) => looksLikeSummary(block.text))
    .flatMap((block) => readSections(block.text))
    .filter((fact) => fact.section < (hasTodos ? 7 : 8))
    .map((fact) => ({ ...fact, weight: fact.section === 6 ? 4 : 7 }))
}

function requestFacts(said: readonly string[]): readonly Fact[] {
  const [first, last] = [said[0], said.at(-1)]
  if (first === undefined || last === undefined) return []
  const facts: Fact[] = [{ section: 1, text: cut(oneLine(first), 400), weight: 1 }]
  if (last !== first) facts.push({ section: 1, text: `Latest: ${cut(oneLine(last), 400)}`, weight: 1 })
  return facts
}

function conceptFacts(calls: readonly Call[]): readonly Fact[] {
  const endings = calls.map(({ use }) => stringInput(use.input, 'path')?.split('.').at(-1) ?? '')
  const languages = new Set(endings.flatMap((ending) => languageNames[ending] ?? []))
  const searched = calls
    .filter(({ use }) => toolNamed(use.name) === 'Grep')
    .map(({ use }) => stringInput(use.input, 'pattern'))
  const tools = new Set(calls.map(({ use }) => use.name))
  const lists: readonly (readonly [string, ReadonlySet<string | undefined>])[] = [
    ['Languages', languages],
    ['Symbols searched for', new Set(searched.slice(-12))],
    ['Tools used', tools],
  ]
  return lists
    .filter(([, list]) => list.size > 0)
    .map(([name, list]): Fact => ({ section: 2, text: `${name}: ${[...list].join(', ')}`, weight: 9 }))
}

const languageNames: Readonly<Record<string, string>> = { ts: 'TypeScript', md: 'Markdown', json: 'JSON', py: 'Python' }

/** One fact per file: the actions on it, and its last change as code. Changed files weigh more than read ones. */
function fileFacts(calls: readonly Call[]): readonly Fact[] {
  const byPath = new Map<string, { readonly deeds: Set<string>; code: string }>()
  for (const { use, result } of calls) {
    const path = stringInput(use.input, 'path')
    const deed = actionsByFile[toolNamed(use.name) ?? 'Bash']
    if (path === undefined || deed === undefined || result?.is_error) continue
    const file = byPath.get(path) ?? { deeds: new Set(), code: '' }
    file.deeds.add(deed)
    file.code = stringInput(use.input, 'new') ?? file.code
    byPath.delete(path)
    byPath.set(path, file)
  }
  return [...byPath].map(([path, file], index): Fact => {
    const code = file.code === '' ? '' : `; now has: ${cut(oneLine(file.code), 200)}`
    const weight = (file.deeds.has('edited') || file.deeds.has('written') ? 5 : 7) - index / byPath.size / 2
    return { section: 3, text: `${path} (${[...file.deeds].join(', ')})${code}`, weight }
  })
}

const actionsByFile: Readonly<Record<string, string>> = { Read: 'read', Edit: 'edited', Write: 'written' }

/** Errors in results, and the next action. A call that failed and later succeeded counts as solved. */
function errorFacts(calls: readonly Call[]): readonly Fact[] {
  const facts: Fact[] = []
  const solved = new Set<string>()
  let edited: string | undefined
  for (const [at, call] of [...calls.entries()].toReversed()) {
    const name = describe(call.use)
    if (call.result && !call.result.is_error) {
      solved.add(name)
      if (toolNamed(call.use.name) === 'Edit') edited = stringInput(call.use.input, 'path')
    }
    if (!call.result?.is_error) continue
    const weight = 6 - at / calls.length / 2
    const what = cut(oneLine(telling(textOf(call.result.content))), 300)
    const fix = edited === undefined ? 'no fix yet' : `then edited ${edited}`
    facts.push({ section: 4, text: `${name}: ${what} (${fix})`, weight })
    facts.push({ section: 5, text: `${solved.has(name) ? 'Solved' : 'Open'}: ${name}`, weight: weight + 2 })
  }
  return facts.toReversed()
}

/** The failure lines of a test run are more informative than its beginning. */
function telling(output: string): string {
  const lines = output.split('\n').filter((line) => /FAIL|Error:|not found|Expected|Received/.test(line))
  return lines.length > 0 ? lines.join('; ') : output
}

/** The latest todos without finished ones. */
function todoFacts(calls: readonly Call[]): readonly Fact[] {
  const last = calls.findLast(({ use }) => toolNamed(use.name) === 'TodoWrite')
  return listInput(last?.use.input, 'todos').flatMap((todo): readonly Fact[] => {
    const text = stringAt(todo, 'content') ?? stringAt(todo, 'step')
    const status = stringAt(todo, 'status') ?? 'pending'
    return text === undefined || status === 'completed' ? [] : [{ section: 7, text: `${text} (${status})`, weight: 3 }]
  })
}

/** The state of the work: the assistant's last words, its last calls, and the current request. */
function presentFacts(messages: readonly Message[], calls: readonly Call[]): readonly Fact[] {
  const texts = messages.filter((message) => message.role === 'assistant').map((message) => textOf(message.content))
  const words = texts.findLast((text) => text.trim() !== '')
  const request = userTexts(messages).at(-1)
  const facts: Fact[] = []
  if (words !== undefined) facts.push({ section: 8, text: cut(words.trim(), 800), weight: 0.5 })
  if (calls.length > 0) {
    facts.push({
      section: 8,
      text: `Last calls: ${calls
        .slice(-3)
        .map(({ use }) => describe(use))
        .join(', ')}`,
      weight: 1,
    })
  }
  if (request !== undefined) {
    facts.push({ section: 9, text: `Go on with the latest request: "${cut(request, 300)}"`, weight: 1 })
  }
  return facts
}

function describe(use: ToolUseBlock): string {
  const about = stringInput(use.input, 'command') ?? stringInput(use.input, 'path') ?? stringInput(use.input, 'pattern')
  return about === undefined ? use.name : `${use.name} ${cut(oneLine(about), 120)}`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Cuts the middle of long text. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const half = Math.floor((max - 5) / 2)
  return `${headOfText(text, half)} […] ${tailOfText(text, half)}`
}
