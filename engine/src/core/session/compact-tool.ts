// Compaction as a tool that a host can give its model: the model knows best when a part of the work is finished.
import { isObject, stringAt } from '../message/json.ts'
import { oneLine } from '../text/neutralize.ts'
import { type RecallTool, schemaOf, type ToolOutput } from './recall-tool.ts'
import type { Session } from './session-api.ts'

/** When a model should ask for a compaction, and when not. */
const description = `Makes room in the context: before your next request, a summary replaces the older part of this conversation. Use it when a part of the work is finished and its details no longer matter, for example after a sub-task with long tool output, or before you begin something new. Do not use it in the middle of a derivation, while you compare results, while a command or an edit is half done, or to save a few thousand tokens. Give "reason" (what is finished), and in "keep" whatever the summary must not lose. It answers with what will happen, or why not. You need not ask because the context is full: that is handled for you.`

/** Maximum length of the model's reason, in characters. */
const maxReason = 300
const maxKeep = 1_000

const properties = {
  reason: { type: 'string', description: 'What is finished, in a sentence.' },
  keep: { type: 'string', description: 'What the summary must keep: names, numbers, decisions, open questions.' },
}

/**
 * A tool by which the model asks for a compaction before its next request: give `name`, `description` and `input_schema` to the
 * model, and answer its calls with `run`.
 */
export function compactTool(session: Pick<Session, 'scheduleCompaction'>): Omit<RecallTool, 'run'> & {
  readonly run: (input: unknown) => ToolOutput
} {
  return {
    name: 'compact',
    description,
    input_schema: { ...schemaOf(properties), required: ['reason'] },
    run: (input) => {
      const reason = oneLine(stringAt(input, 'reason') ?? '', maxReason)
      const keep = isObject(input) ? (input.keep ?? '') : ''
      if (reason === '') return { text: 'Give "reason": what is finished, in a sentence.', isError: true }
      if (typeof keep !== 'string') return { text: '"keep" has to be a text.', isError: true }
      const kept = oneLine(keep, maxKeep)
      const asked = `The assistant asked for this summary because: ${JSON.stringify(reason)}.`
      const instructions = kept === '' ? asked : `${asked} It wants to keep: ${JSON.stringify(kept)}.`
      const { isScheduled, why } = session.scheduleCompaction({ instructions })
      return { text: isScheduled ? why : `No compaction: ${why}`, isError: false }
    },
  }
}
