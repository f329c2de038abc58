// Whether two parsed values say the same, whatever kinds of objects their parsers make.
import { isDeepStrictEqual } from 'node:util'

export function isSameValue(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(plain(a), plain(b))
}

function plain(value: unknown): unknown {
  const text = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}
