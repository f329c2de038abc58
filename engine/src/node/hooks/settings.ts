// Hooks as people write them in a settings file: event → matchers → commands. Anybody may have written the file, so it is
// checked as it is read; a mistake is reported with its place.
import { isObject } from '../../core/message/json.ts'

export const hookEvents = [
  'PreCompact',
  'PostCompact',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'SubagentStart',
  'SubagentStop',
  'PermissionRequest',
] as const

export type HookCommand = {
  readonly type: 'command'
  readonly command: string
  /** Seconds. */
  readonly timeout?: number | undefined
}

export type HookMatcher = {
  /** `manual`, `auto|manual`, `compact` …; left out, empty or `*`: always. */
  readonly matcher?: string | undefined
  readonly hooks: readonly HookCommand[]
}

export type HookSettings = { readonly [event in (typeof hookEvents)[number]]?: readonly HookMatcher[] | undefined }

export type HookSettingsRead =
  | { readonly type: 'read'; readonly settings: HookSettings }
  | { readonly type: 'wrong'; readonly problem: string }

/** Takes the `hooks` object of a settings file. */
export function readHookSettings(value: unknown): HookSettingsRead {
  const problem = wrongSettings(value ?? {})
  if (problem !== undefined) return { type: 'wrong', problem: `hooks${problem}` }
  return { type: 'read', settings: (value ?? {}) as HookSettings }
}

// Each returns where the value is wrong and what belongs there, or undefined when it is right.

function wrongSettings(value: unknown): string | undefined {
  if (!isObject(value)) return ': expected an object'
  return firstOf(Object.entries(value), ([event, matchers]) => {
    if (!hookEvents.some((known) => known === event)) return `.${event}: not one of ${hookEvents.join(', ')}`
    return prefixed(event, wrongList(matchers, wrongMatcher))
  })
}

function wrongMatcher(value: unknown): string | undefined {
  if (!isObject(value)) return ': expected an object'
  const { matcher, hooks } = value
  if (matcher !== undefined && typeof matcher !== 'string') return '.matcher: expected a string'
  return prefixed('hooks', wrongList(hooks, wrongCommand))
}

const longestTimeout = 3600

function wrongCommand(value: unknown): string | undefined {
  if (!isObject(value)) return ': expected an object'
  const { type, command, timeout } = value
  if (type !== 'command') return '.type: expected "command"'
  if (typeof command !== 'string' || command === '') return '.command: expected a command line'
  if (timeout === undefined) return undefined
  const isValid = typeof timeout === 'number' && timeout > 0 && timeout <= longestTimeout
  return isValid ? undefined : `.timeout: expected seconds, more than 0 and at most ${longestTimeout}`
}

function wrongList(value: unknown, wrong: (item: unknown) => string | undefined): string | undefined {
  if (!Array.isArray(value)) return ': expected a list'
  return firstOf([...value.entries()], ([at, item]) => prefixed(at, wrong(item)))
}

function prefixed(key: string | number, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `.${key}${problem}`
}

function firstOf<T>(items: readonly T[], wrong: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = wrong(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The commands of an event whose matcher takes this word, in their order. */
export function commandsFor(
  settings: HookSettings,
  event: (typeof hookEvents)[number],
  word: string,
): readonly HookCommand[] {
  const takes = ({ matcher = '' }: { readonly matcher?: string | undefined }) =>
    matcher === '' || matcher === '*' || matcher.split('|').some((each) => each.trim() === word)
  return (settings[event] ?? []).filter(takes).flatMap(({ hooks }) => hooks)
}
