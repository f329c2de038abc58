// Splits a text into the chunks of a stream, never inside a character.

const maxLength = 48

export function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + maxLength)
    const code = text.charCodeAt(end - 1)
    if (end < text.length && code >= 0xd800 && code <= 0xdbff) end++
    yield text.slice(at, end)
    at = end
  }
}
