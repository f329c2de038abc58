// Long pastes, shown as a mark such as `[Pasted #1: 320 lines]`.
import { oneLine, safeText } from '../../render/safe.ts'

export type Image = { readonly mediaType: string; readonly base64: string }

export type Paste = { readonly mark: string; readonly text: string; readonly image?: Image }

const maxLines = 5
const maxCharacters = 800

/** Short pastes are inserted unchanged. Control characters are removed. */
export function foldPaste(
  pasted: string,
  pastes: readonly Paste[],
): { readonly shown: string; readonly pastes: readonly Paste[] } {
  const text = safeText(pasted)
  const lines = text.replace(/\n$/, '').split('\n').length
  if (lines <= maxLines && text.length <= maxCharacters) return { shown: text, pastes }
  const size = lines > maxLines ? `${lines} lines` : `${text.length} characters`
  const mark = `[Pasted #${nextNumber(pastes)}: ${size}]`
  return { shown: mark, pastes: [...pastes, { mark, text }] }
}

/** An image is a mark in the text and is sent with it. */
export function attachImage(
  name: string,
  image: Image,
  pastes: readonly Paste[],
): { readonly shown: string; readonly pastes: readonly Paste[] } {
  const mark = `[Image #${nextNumber(pastes)}: ${oneLine(name)}]`
  return { shown: mark, pastes: [...pastes, { mark, text: mark, image }] }
}

function nextNumber(pastes: readonly Paste[]): number {
  return 1 + Math.max(0, ...pastes.map(({ mark }) => Number(/#(\d+)/.exec(mark)?.[1] ?? 0)))
}

/** Inserts a text from another prompt. Marks get new numbers if theirs are taken. */
export function adoptPastes(
  { text, pastes: own }: { readonly text: string; readonly pastes: readonly Paste[] },
  into: readonly Paste[],
): { readonly shown: string; readonly pastes: readonly Paste[] } {
  let shown = text
  let pastes = into
  for (const paste of own) {
    if (pastes.includes(paste)) continue
    const isTaken = pastes.some(({ mark }) => mark === paste.mark)
    // Higher than all of them, so that no new mark equals one that is renamed later.
    const mark = isTaken ? paste.mark.replace(/#\d+/, `#${nextNumber([...own, ...pastes])}`) : paste.mark
    shown = shown.replaceAll(paste.mark, () => mark)
    pastes = [...pastes, { ...paste, mark, text: paste.text === paste.mark ? mark : paste.text }]
  }
  return { shown, pastes }
}

/** The mark that ends at the cursor. A mark is deleted and skipped like one character. */
export function markBefore(text: string, cursor: number, pastes: readonly Paste[]): string | undefined {
  return pastes.find(({ mark }) => text.slice(0, cursor).endsWith(mark))?.mark
}

export function markAt(text: string, cursor: number, pastes: readonly Paste[]): string | undefined {
  return pastes.find(({ mark }) => text.startsWith(mark, cursor))?.mark
}
