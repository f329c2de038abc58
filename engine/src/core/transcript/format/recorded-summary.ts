// Extracts the text that the model wrote from a summary that a client recorded.

const opening = /^This session is being continued/
/** The text that Codex puts before a summary. */
const introduction = /^Another language model started to solve this problem[^\n]*\n/
const heading = /^Summary:[ \t]*$/m
const firstSection = /^[ \t]*(?:#+[ \t]*|\*\*)?1\.[ \t]/m
const closing =
  /\n(?:If you need specific details from before compaction|Please continue the conversation|Continue the conversation from where)/

/** The model's text in a recorded summary, without its scratchpad and the client's opening and closing text. */
export function recordedProse(recorded: string): string {
  const whole = withoutScratchpads(recorded).replace(introduction, '')
  const end = whole.search(closing)
  const text = end < 0 ? whole : whole.slice(0, end)
  const [found] = heading.exec(text) ?? []
  if (found !== undefined) return text.slice(text.search(heading) + found.length).trim()
  return (opening.test(text) ? text.slice(Math.max(0, text.search(firstSection))) : text).trim()
}

function withoutScratchpads(text: string): string {
  const kept: string[] = []
  let from = 0
  for (;;) {
    const start = text.indexOf('<analysis>', from)
    const end = start < 0 ? -1 : text.indexOf('</analysis>', start)
    if (end < 0) return `${kept.join('')}${text.slice(from)}`
    kept.push(text.slice(from, start))
    from = end + '</analysis>'.length
  }
}
