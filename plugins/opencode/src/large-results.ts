// Large tool results: stored in full, and shortened before the model sees them for the first time, so that what was sent
// never changes.
import { storeResults } from 'everlong/internal/node'

export type LargeResult = { readonly callID: string; readonly output: string; readonly transcript: string }

/** The text for the context: the same if it could not be stored. Throws if the disk is the reason. */
export function shortened({ callID, output, transcript }: LargeResult, maxLength: number): string {
  const stored = storeResults(transcript, [{ toolUseId: callID, content: output }])
  if (stored.type === 'store-failed') throw new Error(stored.message)
  // A file of that name may hold another result, and a lone surrogate cannot be stored.
  if (stored.written.length === 0) return output
  const head = output.slice(0, Math.floor(maxLength * 0.6)).toWellFormed()
  const tail = output.slice(output.length - Math.floor(maxLength * 0.3)).toWellFormed()
  const left = output.length - head.length - tail.length
  const pointer = `recall(${JSON.stringify({ read: callID })})`
  return `${head}\n[… ${left} characters left out. The whole result: ${pointer}]\n${tail}`
}
