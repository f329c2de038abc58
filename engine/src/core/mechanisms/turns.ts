// The sizes of the turns of a conversation, across its compactions: each boundary of ours remembers those before it.
import type { JsonObject } from '../message/json.ts'
import { rememberedTurns, type TurnSize, turnSizes } from '../tokens/predict.ts'
import { boundaryBefore, readCompaction } from '../transcript/format/compaction-records.ts'
import type { View } from '../transcript/view/fold.ts'

/** Undefined if the conversation was compacted by somebody who does not remember them. */
export function turnsIn(
  { messages }: Pick<View, 'messages'>,
  recordOf: (uuid: string) => JsonObject | undefined,
): readonly TurnSize[] | undefined {
  const summary = messages.findLast(({ origin }) => origin === 'summary')
  if (!summary) return turnSizes(messages)
  const { turns, kept } = readCompaction(boundaryBefore(summary, recordOf))
  if (!turns) return undefined
  // Kept messages are from turns before it.
  const since = messages.filter(({ uuid = '' }) => !kept.includes(uuid))
  return [...turns, ...turnSizes(since)].slice(-rememberedTurns)
}
