// Prose in the pieces that can be kept or left out without breaking it: a bullet, a paragraph, a fenced block with the
// line that announces it. It changes no piece.

export type ProseBlock = { readonly text: string; readonly isCode: boolean; readonly isHeading: boolean }

const fence = /^\s*(?:```|~~~)/
const longestPiece = 1600

export function proseBlocks(body: string): readonly ProseBlock[] {
  const blocks: ProseBlock[] = []
  const lines = body.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (fence.test(line)) {
      const end = lines.findIndex((other, index) => index > at && fence.test(other))
      const last = end < 0 ? lines.length - 1 : end
      blocks.push({ text: lines.slice(at, last + 1).join('\n'), isCode: true, isHeading: false })
      at = last
    } else if (line.trim() !== '') {
      const isHeading = /^\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|[-*]\s+\*\*[^*]+\*\*:?\s*$)|:\s*$/.test(line)
      blocks.push(...pieces(line).map((text) => ({ text, isCode: false, isHeading })))
    }
  }
  return blocks
}

/** A paragraph without end is cut between its sentences. */
function pieces(line: string): readonly string[] {
  if (line.length <= longestPiece) return [line]
  const found: string[] = []
  for (const sentence of line.split(/(?<=[.!?])\s+(?=\S)/)) {
    const last = found.at(-1)
    if (last !== undefined && last.length + sentence.length < longestPiece)
      found[found.length - 1] = `${last} ${sentence}`
    else found.push(sentence)
  }
  return found
}
