// A provider that is overloaded or cannot be reached, in words.
import { duration } from './numbers.ts'
import { oneLine } from './safe.ts'

type Retry = { readonly attempt: number; readonly why: string }

/** `Overloaded. Trying again in 12 s (attempt 4).` `attempt` counts the failed ones. */
export function retryLine({ attempt, why }: Retry, waitMs: number): string {
  const when = waitMs > 0 ? ` in ${duration(Math.ceil(waitMs / 1_000) * 1_000)}` : ''
  return `${sentence(why)} Trying again${when} (attempt ${attempt + 1}).`
}

type Failure = { readonly message: string; readonly tries: number; readonly retryAfterMs?: number }

export function failureLine({ message, tries, retryAfterMs }: Failure): string {
  const after = tries > 1 ? ` after ${tries} attempts` : ''
  const wish = retryAfterMs === undefined ? '' : ` The provider asks to wait ${duration(retryAfterMs)}.`
  return `No answer${after}: ${wish === '' ? plain(message) : sentence(message)}${wish}`
}

/** SDKs join sentences: `Connection error.: fetch failed` */
function plain(text: string): string {
  return oneLine(text).replaceAll('.: ', ': ')
}

function sentence(text: string): string {
  const line = plain(text)
  return /[.!?…]$/.test(line) ? line : `${line}.`
}
