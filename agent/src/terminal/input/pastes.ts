// Long pastes, shown as a mark such as `[Pasted #1: 320 lines]`.
import { oneLine, safeText } from '../../render/safe.ts'

export type Image = { readonly mediaType: string; readonly base64: string }

export type Paste = { readonly mark: string; readonly text: string; readonly image?: Image }

const mostLines = 5
const mostCharacters = 800

/** Short pastes are shown as they are. Control characters never come in. */
export function foldPaste(
  pasted: string,
  pastes: readonly Paste[],
): { readonly shown: string; readonly pastes: readonly Paste[] } {
  const text = safeText(pasted)
  const lines = text.replace(/\n$/, '').split('\n').length
  if (lines <= mostLines && text.length <= mostCharacters) return { shown: text, pastes }
  const size = lines > mostLines ? `${lines} lines` : `${text.length} characters`
  const mark = `[Pasted #${pastes.length + 1}: ${size}]`
  return { shown: mark, pastes: [...pastes, { mark, text }] }
}

/** An image is a mark in the text, and goes along with it. */
export function attachImage(
  name: string,
  image: Image,
  pastes: readonly Paste[],
): { readonly shown: string; readonly pastes: readonly Paste[] } {
  const mark = `[Image #${pastes.length + 1}: ${oneLine(name)}]`
  return { shown: mark, pastes: [...pastes, { mark, text: mark, image }] }
}

/** The mark that ends at the cursor. A mark is deleted and passed over as one character. */
export function markBefore(text: string, cursor: number, pastes: readonly Paste[]): string | undefined {
  return pastes.find(({ mark }) => text.slice(0, cursor).endsWith(mark))?.mark
}

export function markAt(text: string, cursor: number, pastes: readonly Paste[]): string | undefined {
  return pastes.find(({ mark }) => text.startsWith(mark, cursor))?.mark
}
