// Node stores the compiled code of a thread when it ends regularly. A terminal that is closed kills it before that, and the next
// start is slow again.
import { flushCompileCache } from 'node:module'

const waitMs = 3_000

/** Stores it now, after the start. */
export function keepCompiled(): void {
  setTimeout(() => flushCompileCache?.(), waitMs).unref()
}
