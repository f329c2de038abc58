// Hooks as people write them in a settings file: event → matchers → commands. Anyone may have written the file, so it is checked
// while it is read; a mistake is reported with its place.
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
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Notification',
] as const

export type HookCommand = {
  readonly type: 'command'
  readonly command: string
  /** Seconds. */
  readonly timeout?: number | undefined
}

export type HookMatcher = {
  /**
   * A regular expression for the whole word: `manual`, `auto|manual`, `compact`, or a tool's name such as `Edit|Write` or
   * `mcp__.*`. Absent, empty or `*` matches everything.
   */
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

// Each returns the place of a mistake and the expected value, or undefined if there is none.
type Validator = (value: unknown) => string | undefined

const wrongSettings: Validator = (value) => {
  if (!isObject(value)) return ': expected an object'
  return firstWrong(Object.entries(value), ([event, matchers]) => {
    if (!hookEvents.some((known) => known === event)) return `: not one of ${hookEvents.join(', ')}`
    return wrongList(matchers, wrongMatcher)
  })
}

const wrongMatcher: Validator = (value) => {
  if (!isObject(value)) return ': expected an object'
  const { matcher, hooks } = value
  if (matcher !== undefined && typeof matcher !== 'string') return '.matcher: expected a string'
  if (matcher !== undefined && !takerOf(matcher)) return '.matcher: expected words, or a regular expression'
  return firstWrong([['hooks', hooks]], ([, list]) => wrongList(list, wrongCommand))
}

const maxTimeout = 3600

const wrongCommand: Validator = (value) => {
  if (!isObject(value)) return ': expected an object'
  const { type, command, timeout } = value
  if (type !== 'command') return '.type: expected "command"'
  if (typeof command !== 'string' || command === '') return '.command: expected a command line'
  const isValid = timeout === undefined || (typeof timeout === 'number' && timeout > 0 && timeout <= maxTimeout)
  return isValid ? undefined : `.timeout: expected seconds, more than 0 and at most ${maxTimeout}`
}

function wrongList(value: unknown, wrong: Validator): string | undefined {
  if (!Array.isArray(value)) return ': expected a list'
  return firstWrong([...value.entries()], ([, item]) => wrong(item))
}

function firstWrong<T extends readonly [string | number, unknown]>(
  items: readonly T[],
  wrong: (item: T) => string | undefined,
): string | undefined {
  for (const item of items) {
    const problem = wrong(item)
    if (problem !== undefined) return `.${item[0]}${problem}`
  }
  return undefined
}

/** The commands of an event whose matcher accepts this word, in order. */
export function commandsFor(settings: HookSettings, event: keyof HookSettings, word: string): readonly HookCommand[] {
  const takes = ({ matcher = '' }: HookMatcher) => takerOf(matcher)?.test(word) ?? false
  return (settings[event] ?? []).filter(takes).flatMap(({ hooks }) => hooks)
}

/** Undefined if the matcher is not a regular expression. */
function takerOf(matcher: string): RegExp | undefined {
  if (matcher === '' || matcher === '*') return /^/
  try {
    return new RegExp(`^\\s*(?:${matcher.replaceAll(/\s*\|\s*/g, '|')})\\s*$`)
  } catch {
    return undefined
  }
}
