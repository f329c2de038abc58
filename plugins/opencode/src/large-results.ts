// Large tool results: stored in full, and shortened before the model sees them for the first time, so that what was sent
// never changes.
import { storeResults } from 'everlong/node'

export type LargeResult = { readonly callID: string; readonly output: string; readonly transcript: string }

/** The text for the context. Throws if the result could not be stored: then it must stay as it is. */
export function shortened({ callID, output, transcript }: LargeResult, longest: number): string {
  const stored = storeResults(transcript, [{ toolUseId: callID, content: output }])
  if (stored.type === 'store-failed') throw new Error(stored.message)
  const head = output.slice(0, Math.floor(longest * 0.6)).toWellFormed()
  const tail = output.slice(output.length - Math.floor(longest * 0.3)).toWellFormed()
  const left = output.length - head.length - tail.length
  const pointer = `recall(${JSON.stringify({ read: callID })})`
  return `${head}\n[… ${left} characters left out. The whole result: ${pointer}]\n${tail}`
}
