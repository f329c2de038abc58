// How text is taken out of a file, or made from it the way agents' tools show files.
export function quoted(text: string): string {
  return [...text.matchAll(/: '((?:[^'\\]|\\.)*)'/g)].map((match) => match[1] ?? '').join('\n')
}

export function jsonStrings(text: string): string {
  return Object.values(JSON.parse(text) as Record<string, unknown>)
    .map(String)
    .join('\n')
}

export function translations(text: string): string {
  const chapter = JSON.parse(text) as { readonly verses: readonly { readonly translation?: string }[] }
  return chapter.verses.map((verse) => verse.translation ?? '').join('\n')
}

export function withoutTags(text: string): string {
  return text
    .replace(/<[^>]*>/g, '')
    .replace(/&nbsp;/g, ' ')
    .replace(/\n\s*\n\s*/g, '\n\n')
}

export function blocklyMessages(text: string): string {
  return [...text.matchAll(/= "((?:[^"\\]|\\.)*)"/g)]
    .map((match) => match[1] ?? '')
    .filter((line) => !/^https?:/.test(line))
    .join('\n')
}

/** As agents' file tools show a file: a line number before each line. */
export function numbered(text: string): string {
  return text
    .split('\n')
    .map((line, index) => `${String(index + 1).padStart(6)}→${line}`)
    .join('\n')
}

/** A unified diff with every seventh line changed. */
export function asDiff(text: string): string {
  const lines = text.split('\n')
  const hunks: string[] = ['diff --git a/src/index.ts b/src/index.ts', '--- a/src/index.ts', '+++ b/src/index.ts']
  for (let at = 0; at < lines.length; at += 7) {
    const [first = '', ...rest] = lines.slice(at, at + 7)
    hunks.push(
      `@@ -${at + 1},7 +${at + 1},7 @@ ${first.slice(0, 40)}`,
      `-${first}`,
      `+${first.replace(/[a-z]{4,}/, 'value')}`,
    )
    hunks.push(...rest.map((line) => ` ${line}`))
  }
  return hunks.join('\n')
}

/** The values of messages written as `"key": "value"` with escapes. */
export function escapedStrings(text: string): string {
  return [...text.matchAll(/:\s*"((?:[^"\\]|\\.)*)"/g)]
    .map(([, value = '']) =>
      value.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    )
    .join('\n')
}
