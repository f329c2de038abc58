// Scripts that answer from a list, and the behavior of a finite list at its end.
import { text } from './answers.ts'
import type { Answer, Script } from './script.ts'

/**
 * After the last answer: `repeat` it, `say` so in a readable text, or `fail` with ScriptExhausted, which a server turns into a
 * 500.
 */
export type WhenExhausted = 'repeat' | 'say' | 'fail'

export class ScriptExhausted extends Error {
  override readonly name = 'ScriptExhausted'
}

/** Answers by turn; a string is a text answer. The list must not be empty. */
export function fixed(
  answers: readonly (Answer | string)[],
  options: { readonly whenExhausted?: WhenExhausted } = {},
): Script {
  const list = answers.map((answer) => (typeof answer === 'string' ? text(answer) : answer))
  if (list.length === 0) throw new Error('A fixed script needs at least one answer.')
  return (_request, context) =>
    list[context.turn] ??
    whenDry({
      how: options.whenExhausted ?? 'repeat',
      last: list.at(-1),
      why: `The script has ${list.length} answers, and this is request ${context.turn + 1}.`,
    })
}

export function whenDry(dry: {
  readonly how: WhenExhausted
  readonly last: Answer | undefined
  readonly why: string
}): Answer {
  if (dry.how === 'repeat' && dry.last) return dry.last
  if (dry.how === 'fail') throw new ScriptExhausted(dry.why)
  return { ...text(`[simulator] ${dry.why}`), stopReason: 'end_turn' }
}
