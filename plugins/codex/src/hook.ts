// What the SessionStart hook prints. Codex passes the event as JSON on standard input, right after it has written a
// compaction to the rollout and before it sends the next request.
import { leftOutText, sessionOfRecords } from 'everlong/node'
import { isObject, stringAt } from 'everlong/transcript'
import { cutToBytes, lostIn } from '../../shared/lost.ts'
import { lastCompaction } from './last-compaction.ts'

/** Codex counts four bytes a token, and moves texts over 2,500 tokens to a file. */
const longest = 9_500
const missingTokens = 2_200

/** The text for standard output; undefined for nothing. Throws if the rollout cannot be read. */
export function onHook(input: unknown): string | undefined {
  if (!isObject(input) || input.hook_event_name !== 'SessionStart' || input.source !== 'compact') return undefined
  const rollout = stringAt(input, 'transcript_path')
  const last = rollout === undefined ? undefined : lastCompaction(rollout)
  if (last === undefined) return undefined
  const [summary = '', ...given] = last.shown
  const { records, path, isReadable } = last
  const text = leftOutText(sessionOfRecords(records, path), {
    ...{ summary, given: given.join('\n'), isReadable, maxTokens: missingTokens },
    search: 'the search tool of the everlong server',
  })
  if (text === '') return undefined
  const additionalContext = cutToBytes(text, longest)
  return JSON.stringify({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext } })
}

/** What the last compaction of a rollout lost. */
export function lost(rollout: string): string {
  const last = lastCompaction(rollout)
  return last === undefined ? '' : lostIn(last, missingTokens)
}
