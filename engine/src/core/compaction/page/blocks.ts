// A text in the pieces that can be left out without breaking it: a paragraph, a bullet, a table row, a fenced block. Each
// knows what it hangs under, so that no lead-in is left without what it introduces.

export type ProseBlock = {
  readonly text: string
  readonly kind: 'code' | 'item' | 'row' | 'paragraph'
  /** How far it is indented; deeper is more detailed. */
  readonly depth: number
  /** Index of the block that introduces it; -1 for none. */
  readonly parent: number
}

const fence = /^\s*(?:```|~~~)/
const bullet = /^\s*(?:[-*+•]|\d+[.)])\s/

export function proseBlocks(text: string): readonly ProseBlock[] {
  const blocks: ProseBlock[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line.trim() === '') continue
    const indent = line.search(/\S/)
    if (fence.test(line)) {
      const end = lines.findIndex((other, index) => index > at && fence.test(other))
      const last = end < 0 ? lines.length - 1 : end
      const code = lines.slice(at, last + 1).join('\n')
      blocks.push({ text: code, kind: 'code', depth: indent + 1, parent: blocks.length - 1 })
      at = last
      continue
    }
    const kind = /^\s*\|/.test(line) ? 'row' : bullet.test(line) ? 'item' : 'paragraph'
    blocks.push({ text: line, kind, depth: indent, parent: parentOf(blocks, { indent, kind }) })
  }
  return blocks
}

/** The nearest block above that is less indented, or a line on the same level that ends with a colon or is a heading. */
function parentOf(
  blocks: readonly ProseBlock[],
  { indent, kind }: { readonly indent: number; readonly kind: ProseBlock['kind'] },
): number {
  for (let at = blocks.length - 1; at >= 0; at--) {
    const above = blocks[at]
    if (above === undefined || above.kind === 'code') continue
    if (above.depth < indent) return at
    if (above.depth > indent) continue
    if (isLeadIn(above) && (kind !== 'paragraph' || above.kind === 'paragraph')) return at
    if (above.kind === 'paragraph' || kind === 'paragraph') return -1
  }
  return -1
}

export function isLeadIn({ text, kind }: Pick<ProseBlock, 'text' | 'kind'>): boolean {
  return kind === 'paragraph' && /:(?:\*\*|__)?\s*$|^\s*#{1,6}\s|^\s*\*\*[^*]+\*\*:?\s*$/.test(text)
}
