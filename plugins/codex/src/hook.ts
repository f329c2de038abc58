// The output of the SessionStart hook. Codex passes the event as JSON on standard input, right after it has written a compaction
// to the rollout and before the next request.

import { isObject, stringAt } from 'everlong/internal'
import { countGivenBack, leftOutNote, missingFromSummary, type SummarySource } from 'everlong/internal/node'
import { givenBackLine } from '../../shared/given-back.ts'
import { cutToBytes } from '../../shared/lost.ts'
import { type LastCompaction, lastCompaction } from './last-compaction.ts'
import { takePrepared } from './prepared.ts'

/** Codex counts four bytes a token, and moves texts over 2,500 tokens to a file. */
const maxBytes = 9_500
const missingTokens = 2_200

/** The text for standard output. Undefined for none. Throws if the rollout cannot be read. */
export async function onHook(input: unknown, folder: string): Promise<string | undefined> {
  if (!isObject(input) || input.hook_event_name !== 'SessionStart' || input.source !== 'compact') return undefined
  const rollout = stringAt(input, 'transcript_path')
  const last = rollout === undefined ? undefined : lastCompaction(rollout)
  if (rollout === undefined || last === undefined) return undefined
  const missing = missingIn(last, takePrepared(rollout, last.start, folder) ?? (await readNow(rollout, last)))
  if (missing === '') return undefined
  const { isReadable } = last
  const note = leftOutNote(missing, { isReadable, search: 'the search tool of the everlong server' })
  const additionalContext = cutToBytes(note, maxBytes)
  const systemMessage = givenBackLine(countGivenBack(additionalContext), 'everlong lost')
  return JSON.stringify({
    // Only for the person.
    ...(systemMessage === undefined ? {} : { systemMessage }),
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext },
  })
}

/** Facts that the last compaction of a rollout lost. */
export async function lostIn(rollout: string): Promise<string> {
  const last = lastCompaction(rollout)
  return last === undefined ? '' : missingIn(last, await readNow(rollout, last))
}

async function readNow(rollout: string, { start }: LastCompaction): Promise<SummarySource> {
  const { sourceBefore } = await import('./engine.ts')
  return sourceBefore(rollout, start)
}

function missingIn({ shown }: LastCompaction, source: SummarySource): string {
  return missingFromSummary(source, { summary: shown.join('\n'), maxTokens: missingTokens })
}
