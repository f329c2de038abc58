// Scripts with the typical faults of summarizing models, one kind each, so that tests can show that callers notice. They never
// fail at protocol level: the API could give every answer.
import { blocksOf, textOf } from 'everlong/internal'
import { sourceOf, summarizer } from '../summary/summarizer.ts'
import { combine, text, thinking, toolUse } from './answers.ts'
import type { Answer, Script, ScriptContext, ScriptRequest } from './script.ts'

export const misbehaviors = [
  'calls-tools',
  'empty-text',
  'empty-content',
  'only-thinking',
  'error-text',
  'endless',
  'refuses',
  'no-tags',
  'truncated-tags',
  'longer-than-source',
  'echoes-prompt',
] as const

export type Misbehavior = (typeof misbehaviors)[number]

/** A script that misbehaves in one way on every request. */
export function misbehaving(kind: Misbehavior): Script {
  return kinds[kind]
}

/** Misbehaves `times` times, then continues with a script at its first turn. */
export function misbehavesThen(kind: Misbehavior, times: number, script: Script): Script {
  return (request, context) =>
    context.turn < times
      ? misbehaving(kind)(request, context)
      : script(request, { ...context, turn: context.turn - times })
}

const kinds: Readonly<Record<Misbehavior, Script>> = {
  'calls-tools': (request) => combine(text('Let me look at the files first.'), callOf(request)),
  'empty-text': () => text(''),
  'empty-content': () => ({ content: [], stopReason: 'end_turn' }),
  'only-thinking': () => ({ ...thinking('I should write the summary now.'), stopReason: 'end_turn' }),
  // An error page; some proxies send it as an answer with status 200.
  'error-text': () =>
    text('API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
  endless: () => ({ ...text('<summary>\n1. Primary request and intent:\n- and then '), endless: true }),
  refuses: () => ({ ...text("I can't help with that."), stopReason: 'refusal' }),
  'no-tags': async (request, context) =>
    text((await summaryText(request, context)).replaceAll(/<analysis>[\s\S]*<\/analysis>\s*|<\/?summary>\n?/g, '')),
  'truncated-tags': async (request, context) => {
    const whole = await summaryText(request, context)
    return { ...text(whole.slice(0, whole.indexOf('4. Errors and fixes:') + 10)), stopReason: 'max_tokens' }
  },
  'longer-than-source': longerThanSource,
  'echoes-prompt': (request) => text(textOf(request.messages.at(-1)?.content) || 'Please go on.'),
}

/** Calls the first offered tool. Without one, it makes up a tool, as models do. */
function callOf(request: ScriptRequest): Answer {
  return toolUse(request.tools[0]?.name ?? 'Read', { file_path: 'README.md' })
}

/** Written without a limit, so that its only fault is the cut or the missing tags. */
async function summaryText(request: ScriptRequest, context: ScriptContext): Promise<string> {
  const answer = await summarizer()({ ...request, maxTokens: Math.max(request.maxTokens, 1_000) }, context)
  return textOf(answer.content)
}

/** Repeats the source at greater length, as far as the output limit allows: in tags, and otherwise well formed. */
function longerThanSource(request: ScriptRequest, context: ScriptContext): Answer {
  const source = sourceOf(request)
    .map(
      (message) =>
        `${message.role}: ${blocksOf(message.content)
          .map((block) => textOf([block]) || JSON.stringify(block))
          .join('\n')}`,
    )
    .join('\n')
  const wrapped = (words: string) => `<summary>\n1. Primary request and intent:\n${words}\n</summary>`
  const telling = `To be complete, here is everything:\n${source}\n\nAnd once more, in order:\n${source.slice(0, Math.ceil(source.length / 4))}`
  let words = telling
  while (words !== '' && context.countTokens(wrapped(words)) > request.maxTokens) {
    words = words.slice(0, Math.floor(words.length * 0.9))
  }
  return text(wrapped(words))
}
