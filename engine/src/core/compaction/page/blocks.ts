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
      let last = at + 1
      while (last < lines.length - 1 && !fence.test(lines[last] ?? '')) last++
      const code = lines.slice(at, last + 1).join('\n')
      const above = blocks.at(-1)
      const parent = above?.kind === 'code' ? above.parent : blocks.length - 1
      blocks.push({ text: code, kind: 'code', depth: indent + 1, parent })
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
  for (let at = blocks.length - 1; ; ) {
    const above = blocks[at]
    if (above === undefined) return -1
    if (above.kind !== 'code' && above.depth < indent) return at
    if (above.kind !== 'code' && above.depth === indent) {
      if (isLeadIn(above)) return at
      // What hangs beside it hangs under the same.
      return above.kind === 'paragraph' || kind === 'paragraph' ? -1 : above.parent
    }
    // Between a deeper one and what it hangs under there is nothing less deep.
    at = above.kind !== 'code' && above.parent >= 0 ? above.parent : at - 1
  }
}

export function isLeadIn({ text, kind }: Pick<ProseBlock, 'text' | 'kind'>): boolean {
  return kind === 'paragraph' && /:(?:\*\*|__)?\s*$|^\s*#{1,6}\s|^\s*\*\*[^*]+\*\*:?\s*$/.test(text)
}
