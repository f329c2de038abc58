// What the SessionStart hook prints. Codex passes the event as JSON on standard input, right after it has written a
// compaction to the rollout and before it sends the next request.
import { isObject, stringAt } from 'everlong/transcript'
import { cutToBytes, introduced, lostIn } from '../../shared/lost.ts'
import { lastCompaction } from './last-compaction.ts'

/** Codex counts four bytes a token, and moves texts over 2,500 tokens to a file. */
const longest = 9_500
const missingTokens = 2_200

/** The text for standard output; undefined for nothing. Throws if the rollout cannot be read. */
export function onHook(input: unknown): string | undefined {
  if (!isObject(input) || input.hook_event_name !== 'SessionStart' || input.source !== 'compact') return undefined
  const rollout = stringAt(input, 'transcript_path')
  const last = rollout === undefined ? undefined : lastCompaction(rollout)
  const missing = last === undefined ? '' : lostIn(last, missingTokens)
  if (last === undefined || missing === '') return undefined
  const additionalContext = cutToBytes(introduced(missing, 'the search tool of the everlong server', last), longest)
  return JSON.stringify({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext } })
}

/** What the last compaction of a rollout lost. */
export function lost(rollout: string): string {
  const last = lastCompaction(rollout)
  return last === undefined ? '' : lostIn(last, missingTokens)
}
