// Chooses a script per request: the first matching rule, otherwise the fallback.
import type { Script, ScriptContext, ScriptRequest } from './script.ts'

export type RouteRule = {
  readonly when: (request: ScriptRequest, context: ScriptContext) => boolean
  readonly script: Script
}

/**
 * Each script counts its own turns: a list of fixed answers in a rule starts at its first answer, even if earlier requests went
 * elsewhere. `when` sees the turn of the whole route.
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
