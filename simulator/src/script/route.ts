// Chooses a script per request: the first rule that holds, else the fall-back.
import type { Script, ScriptContext, ScriptRequest } from './script.ts'

export type RouteRule = {
  readonly when: (request: ScriptRequest, context: ScriptContext) => boolean
  readonly script: Script
}

/**
 * Each script sees its own turns: a list of fixed answers behind a rule starts at its first answer, however many
 * requests went elsewhere before. `when` sees the turn of the whole route.
 */
export function route(rules: readonly RouteRule[], fallback: Script): Script {
  const turns = new Map<Script, number>()
  return (request, context) => {
    const script = rules.find((rule) => rule.when(request, context))?.script ?? fallback
    const turn = turns.get(script) ?? 0
    turns.set(script, turn + 1)
    return script(request, { ...context, turn })
  }
}
