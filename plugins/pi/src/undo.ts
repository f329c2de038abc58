// Takes back the last compaction, or the last clearing of tool results, by going back in pi's tree to before it. Nothing is
// removed: what came after stays on its own branch.

import type { CommandContext, SessionEntry } from './pi-api.ts'
import { isClearing, isMessage } from './session.ts'

/** pi opens a session at its newest entry, so going back is lost when pi ends unless `keep` adds an entry there. */
export async function undoLast(context: CommandContext, keep: () => void): Promise<string> {
  await context.waitForIdle()
  const branch = context.sessionManager.getBranch()
  const last = lastChange(branch)
  if (!last) return 'There is nothing to undo: nothing was compacted or cleared on this branch.'
  const { first, what } = last
  const target = branch[first - 1]
  if (!target) return `There is nothing before the ${what} to go back to.`
  const since = branch.slice(first).filter((entry) => isMessage(entry)).length
  if (since > 0) {
    const question = `${since === 1 ? 'The message' : `The ${since} messages`} since then stay on their own branch; /tree goes back to them.`
    if (!context.hasUI) return `${since} messages followed the ${what}. Use /tree to go back to before it.`
    if (!(await context.ui.confirm(`Go back to before the ${what}?`, question))) return 'Nothing was changed.'
  }
  const { cancelled } = await context.navigateTree(target.id, { summarize: false })
  if (cancelled) return 'Nothing was changed.'
  keep()
  return what === 'compaction'
    ? 'The compaction is undone. The context is as full as it was: pi may compact again with the next prompt.'
    : 'The cleared tool results are back.'
}

type Undoable = { readonly first: number; readonly what: 'compaction' | 'clearing' }

/** Edits that stand together were made together. */
function lastChange(branch: readonly SessionEntry[]): Undoable | undefined {
  const last = branch.findLastIndex((entry) => entry.type === 'compaction' || isClearing(entry))
  const entry = branch[last]
  if (!entry) return undefined
  if (entry.type === 'compaction') return { first: last, what: 'compaction' }
  const before = branch.slice(0, last).findLastIndex((other) => !isClearing(other))
  return { first: before + 1, what: 'clearing' }
}
