// The user's own words in a message or a tool result. Clients write a lot in the user's name: command wrappers,
// reminders, hook output, notifications. None of that is the user's.
import { type JsonObject, objectAt } from '../message/json.ts'
import { sentenceEnd } from '../text/cut.ts'
import { oneLine } from '../text/neutralize.ts'
import type { ToolCall } from '../tools/call.ts'
import type { WordKind } from './facts.ts'

export type Words = { readonly kind: WordKind; readonly text: string; readonly about?: string }

/** True if the user typed the words. They are no answer, rejection or approval, and no task from another agent. */
export function isTyped({ kind }: Pick<Words, 'kind'>): boolean {
  return kind === 'message' || kind === 'queued'
}

/** "<command-name>/review</command-name>", only at the start: anywhere else it is text about a command. */
const commandName = /^\s*<command-name>([^<]+)<\/command-name>/

/** The user did not type the text inside these tags: "Go on.<system-reminder>Be brief.</system-reminder>" → "Go on." */
const wrappers = [
  'system-reminder',
  'local-command-stdout',
  'local-command-stderr',
  'local-command-caveat',
  'command-message',
  'command-contents',
  'bash-stdout',
  'bash-stderr',
  'task-notification',
  'user-prompt-submit-hook',
  'ide_opened_file',
  'ide_selection',
  'ide_diagnostics',
  'new-diagnostics',
]

/** Clients write this when the user stops the agent: "[Request interrupted by user]Use tabs." → "Use tabs." */
export const interruption = /^\s*\[Request interrupted by user[^\]\n]{0,40}\]/

/** Clients write this after the notification of a background task that ended. */
const afterNotification = /^Read the output file to retrieve the result: .*$/m

/** "<command-name>/review</command-name><command-args>src</command-args>" → "/review src"; any other text without its wrappers. */
export function typedText(whole: string): string {
  const text = whole.replace(interruption, '')
  if (!text.includes('<')) return text.trim()
  const unwrapped = withoutWrappers(text)
  const bare = text.includes('<task-notification>') ? unwrapped.replace(afterNotification, '') : unwrapped
  const name = commandName.exec(bare)?.[1]?.trim()
  if (name === undefined) return bare.trim()
  const words = text.split('<command-args>', 2)[1]?.split('</command-args>', 1)[0]?.trim() ?? ''
  return `${name.startsWith('/') ? name : `/${name}`} ${words}`.trim()
}

function withoutWrappers(text: string): string {
  let rest = text
  for (const tag of wrappers) {
    const close = `</${tag}>`
    const end = rest.lastIndexOf(close) + close.length
    if (end < close.length) continue
    // Does not search after the last closing tag: on a page of opening tags that would take quadratic time.
    rest = rest.slice(0, end).replace(new RegExp(`<${tag}[\\s\\S]*?${close}`, 'g'), '') + rest.slice(end)
  }
  return rest
}

/** Commands to the client itself. They ask nothing of the agent. */
const clientCommands = new Set(
  'exit quit clear compact context cost status statusline model ide config help login logout resume memory doctor theme vim usage mcp agents hooks permissions export fast effort rewind plugin add-dir bashes bug feedback output-style privacy-settings release-notes rename stats tasks terminal-setup todos upgrade everlong:context everlong:compact everlong:undo everlong:lost'.split(
    ' ',
  ),
)

/** "Go on." and "/review src" are for the agent, "/compact" and "" are not. */
export function isForTheAgent(text: string): boolean {
  if (text === '') return false
  const command = /^\/([a-z:-]+)(?:\s|$)/.exec(text)?.[1]
  return command === undefined || !clientCommands.has(command)
}

const rejected = "The user doesn't want to proceed with this tool use."
const rejectedWith = 'the user said:\n'
/** Clients append a note to the model: "…the user said:\nUse tabs.\n\nNote: The user's next message …" → "Use tabs." */
const clientNote = /\n\nNote: The user's next message/

type ResultWords = { readonly call: ToolCall | undefined; readonly isError: boolean; readonly raw?: unknown }

/** The user's words inside the result of a tool call: the reason for a rejection, an answer, the approval of a plan. */
export function wordsInResult(text: string, { call, isError, raw }: ResultWords): readonly Words[] {
  // Any output may read like a rejection; a real one is an error.
  if (isError && text.startsWith(rejected)) {
    const at = text.indexOf(rejectedWith)
    const comment = at < 0 ? '' : (text.slice(at + rejectedWith.length).split(clientNote)[0] ?? '').trim()
    return [{ kind: 'rejection', text: comment, ...(call ? { about: describeCall(call) } : {}) }]
  }
  if (call?.type === 'plan' && call.act === 'exit' && text.startsWith('User has approved')) {
    return [{ kind: 'approval', text: '', about: call.text ?? 'the plan' }]
  }
  return call?.type === 'question' ? answersIn(text, objectAt(raw, 'answers')) : []
}

function answersIn(text: string, answers: JsonObject | undefined): readonly Words[] {
  if (answers) {
    return Object.entries(answers).flatMap(([about, answer]) =>
      typeof answer === 'string' && answer !== '' ? [{ kind: 'answer', text: answer, about } as const] : [],
    )
  }
  // "Which one?"="The first", as clients tell the model.
  const pairs = [...text.slice(0, 20_000).matchAll(/"([^"\n]{1,400})"="([^"\n]{1,2000})"/g)]
  if (pairs.length > 0) return pairs.map(([, about = '', answer = '']) => ({ kind: 'answer', text: answer, about }))
  return text.trim() === '' ? [] : [{ kind: 'answer', text: text.trim() }]
}

/** Describes a call in a few words: "Bash rm -r build", "Edit src/gate.ts", "TodoWrite". */
function describeCall(call: ToolCall): string {
  const done = call.type === 'command' ? call.script : call.type === 'fetch' ? call.url : undefined
  const what = call.path ?? done ?? ''
  return what === '' ? call.name : `${call.name} ${oneLine(what, 160)}`
}

/**
 * Maximum characters of a reply that needs its question. A longer reply is clear without it. One that names numbers may be
 * longer.
 */
const shortReply = 60
const maxPointer = 200

/** Finds the subject of a reply: "yes" → the question before it; "skip 5" → item 5 of the agent's list. */
export function questionBehind(reply: string, agentText: string): string | undefined {
  if (reply.length > maxPointer || agentText === '') return undefined
  const items = itemsNamed(reply, agentText)
  const paragraphs = paragraphsOf(agentText)
  const asked = paragraphs.findLastIndex((paragraph) => /[?？]/.test(paragraph))
  if (asked < 0 || reply.length > shortReply) return items.length === 0 ? undefined : items.join('\n')
  if (items.length > 0) return [...items, paragraphs[asked]].join('\n').trim()
  // "the second" needs the list, which is in the two paragraphs before "Which one?".
  const isPointing = /\d|\b(?:first|second|third|last|both|all|option|former|latter|[a-h])\b/i.test(reply)
  return paragraphs
    .slice(isPointing ? Math.max(0, asked - 2) : asked, asked + 2)
    .join('\n')
    .trim()
}

/** "2", "option 2", "skip 5, 7 and 9"; not "phase 1" or "Java 21", which name something else. */
const pointer =
  /(?:^|\b(?:options?|items?|points?|numbers?|no|nr|skip|do|not|only|just|with|take|use|fix|drop|except|but|pick|choose)\b|#)[ .:]{0,2}#?\d{1,2}\b(?:(?:,| and| or| &|, and)? ?#?\d{1,2}\b)*/gi

/** Numbered items and rows of the agent's text that the reply names: "skip 5, 7 and do the rest". */
function itemsNamed(reply: string, agentText: string): readonly string[] {
  const numbers = new Set([...reply.matchAll(pointer)].flatMap(([all]) => all.match(/\d+/g) ?? []))
  if (numbers.size === 0) return []
  return agentText.split('\n').filter((line) => {
    // "5. Oil it", "- **5** Oil it", "| 5 | Oil it |" → "5"
    const [, number = ''] = /^\s*(?:\|\s*)?(?:[-*]\s+)?(?:\*\*)?#?(\d{1,2})(?:[.):]|\*\*|\s*\|)/.exec(line) ?? []
    return numbers.has(number)
  })
}

/** The last question in the last two paragraphs of a report: "I oiled it. Red or green?" → "Red or green?" */
export function questionIn(report: string): string | undefined {
  const sentences = paragraphsOf(report).slice(-2).join('\n').split(sentenceEnd)
  return sentences.findLast((sentence) => /[?？]\W{0,4}$/.test(sentence))?.trim()
}

function paragraphsOf(text: string): readonly string[] {
  return text.split(/\n(?:[ \t]*\n)+/).filter((paragraph) => paragraph.trim() !== '')
}
