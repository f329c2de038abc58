// Hooks as people write them in a settings file: event → matchers → commands. Read with a schema, since anybody may have
// written it; a mistake is said with the place where it stands.
import { z } from 'zod'

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

const command = z.object({
  type: z.literal('command'),
  command: z.string().min(1),
  /** Seconds. */
  timeout: z.number().positive().max(3600).optional(),
})

const matched = z.object({
  /** `manual`, `auto|manual`, `compact` …; left out, empty or `*`: always. */
  matcher: z.string().optional(),
  hooks: z.array(command),
})

const schema = z.partialRecord(z.enum(hookEvents), z.array(matched))

export type HookSettings = z.infer<typeof schema>
export type HookCommand = z.infer<typeof command>

export type HookSettingsRead =
  | { readonly type: 'read'; readonly settings: HookSettings }
  | { readonly type: 'wrong'; readonly problem: string }

/** Takes the `hooks` object of a settings file. */
export function readHookSettings(value: unknown): HookSettingsRead {
  const parsed = schema.safeParse(value ?? {})
  if (parsed.success) return { type: 'read', settings: parsed.data }
  const [issue] = parsed.error.issues
  const place = ['hooks', ...(issue?.path ?? [])].join('.')
  return { type: 'wrong', problem: `${place}: ${issue?.message ?? 'not understood'}` }
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
