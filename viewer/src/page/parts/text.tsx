// Untrusted text: shown as it is, never as markup, with the words of a search marked.
import { visible } from '../format.ts'

export function Marked({ text, words }: { readonly text: string; readonly words: string }) {
  const shown = visible(text)
  if (words.trim() === '') return shown
  const parts: { readonly text: string; readonly at: number; readonly isMatch: boolean }[] = []
  const [low, wanted] = [shown.toLowerCase(), words.toLowerCase()]
  // Changing the case of some letters changes the length of a text; then nothing is marked.
  if (low.length !== shown.length) return shown
  let from = 0
  for (let at = low.indexOf(wanted); at >= 0 && parts.length < 400; at = low.indexOf(wanted, from)) {
    parts.push({ text: shown.slice(from, at), at: from, isMatch: false })
    parts.push({ text: shown.slice(at, at + wanted.length), at, isMatch: true })
    from = at + wanted.length
  }
  parts.push({ text: shown.slice(from), at: from, isMatch: false })
  return parts.map(({ text, at, isMatch }) => (isMatch ? <mark key={at}>{text}</mark> : text))
}
