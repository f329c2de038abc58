// What Codex leaves of a conversation when its client compacts, in our words: its code is a Rust program. As read in
// codex-rs/core/src/compact.rs of August 2026.

const maxTyped = 20_000
const bytesOfToken = 4

/** Our words for those that it puts before a summary; about as long. */
const introduction =
  'An earlier model worked on this task and left the summary below of what it thought and did. The state of the tools it used is still there. Build on what has been done instead of doing it again, and take the summary as help for your own judgement:'

/**
 * What people typed, from the newest back until 20,000 of its tokens are used up, those of earlier windows included; of
 * the message that no longer fits, its beginning and its end. Then the summary. Nothing else stays.
 */
export function codexHistory(typed: readonly string[], summary: string): readonly string[] {
  const kept: string[] = []
  let left = maxTyped
  for (const text of typed.toReversed()) {
    if (left === 0) break
    const tokens = Math.ceil(Buffer.byteLength(text) / bytesOfToken)
    kept.push(tokens <= left ? text : withoutMiddle(text, left))
    left = Math.max(0, left - tokens)
  }
  return [...kept.toReversed(), `${introduction}\n${summary || '(no summary available)'}`]
}

function withoutMiddle(text: string, tokens: number): string {
  const bytes = Buffer.from(text)
  const half = (tokens * bytesOfToken) / 2
  const gone = Math.ceil((bytes.length - 2 * half) / bytesOfToken)
  return `${bytes.subarray(0, half)}…${gone} tokens truncated…${bytes.subarray(bytes.length - half)}`
}
