// Brace expansion like Bash: `{a,b}`, `{1..3}`, `{a..c}`, nested.

/** Undefined if there are more than `max` words, or if the text has anything but plain characters in its braces. */
export function expandBraces(text: string, max: number): readonly string[] | undefined {
  if (/["'\\$`*?[\]~]/.test(text)) return undefined
  const open = text.indexOf('{')
  if (open < 0) return [text]
  const parts = partsAt(text, open)
  if (parts === undefined) return undefined
  const { inner, end } = parts
  const choices = inner.length > 1 ? inner.map((each) => expandBraces(each, max)) : [sequence(inner[0] ?? '', max)]
  const rest = expandBraces(text.slice(end), max)
  if (choices.includes(undefined) || rest === undefined) return undefined
  const starts = choices.flatMap((each) => each ?? [])
  if (starts.length * rest.length > max) return undefined
  return starts.flatMap((start) => rest.map((tail) => text.slice(0, open) + start + tail))
}

/** The parts between the commas of the braces that open here. */
function partsAt(text: string, open: number): { readonly inner: readonly string[]; readonly end: number } | undefined {
  const inner: string[] = []
  let depth = 0
  let start = open + 1
  for (let at = open; at < text.length; at++) {
    const char = text[at]
    if (char === '{') depth++
    else if (char === '}') depth--
    if (depth === 0 || (char === ',' && depth === 1)) {
      inner.push(text.slice(start, at))
      start = at + 1
    }
    if (depth === 0) return { inner, end: at + 1 }
  }
  return undefined
}

function sequence(text: string, max: number): readonly string[] | undefined {
  const numbers = /^(-?\d{1,9})\.\.(-?\d{1,9})$/.exec(text)
  // Not across cases: the characters in between mean something to Bash, which removes the backslash among them.
  const letters = /^([a-z])\.\.([a-z])$/.exec(text) ?? /^([A-Z])\.\.([A-Z])$/.exec(text)
  // Leading zeros pad the numbers.
  if (!letters && (!numbers || /(?:^|\.)-?0\d/.test(text))) return undefined
  const codeOf = (end: string | undefined) => (letters ? (end ?? '').charCodeAt(0) : Number(end))
  const [from, to] = [codeOf((letters ?? numbers)?.[1]), codeOf((letters ?? numbers)?.[2])]
  const count = Math.abs(to - from) + 1
  if (count > max) return undefined
  const values = Array.from({ length: count }, (_, step) => from + (to < from ? -step : step))
  return values.map((value) => (letters ? String.fromCharCode(value) : String(value)))
}
