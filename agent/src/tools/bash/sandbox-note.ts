// Tells the model that the sandbox may have made a command fail, so that it neither gives up nor repeats the command.

import type { Refusal } from '../../sandbox/sandbox.ts'

export type NoteInput = {
  readonly text: string
  readonly refused: readonly Refusal[]
  readonly isFailed: boolean
}

/** Messages of programs about missing permissions. */
const closed =
  /read-only file system|operation not permitted|permission denied|device or resource busy|could not resolve|network is unreachable|temporary failure in name resolution|\b(?:EROFS|EPERM|EACCES|EBUSY|ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b/i

export function sandboxNote({ text, refused, isFailed }: NoteInput): string {
  if (refused.length > 0)
    return `\n[The sandbox refused connections to ${refused.map(({ host }) => host).join(', ')}. ${[...new Set(refused.map(({ why }) => why))].join(' ')}]`
  if (isFailed && /^bwrap: /m.test(text))
    return '\n[The sandbox could not be set up, so the command did not run. Call Bash again with outside_sandbox: true.]'
  if (!isFailed || !closed.test(text)) return ''
  return '\n[It ran in the sandbox. If it failed because of that, call Bash again with outside_sandbox: true. If it needs a secret, tell the user instead.]'
}
