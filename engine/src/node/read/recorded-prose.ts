// What the model of a recorded compaction wrote, between the words of the client that put it there. It judges nothing.

const opening = /^This session is being continued/
const heading = /^Summary:[ \t]*$/m
const firstSection = /^[ \t]*(?:#+[ \t]*|\*\*)?1\.[ \t]/m
const afterwards =
  /\n(?:If you need specific details from before compaction|Please continue the conversation|Continue the conversation from where)/

/** Without the client's opening and closing words, and without the model's scratchpad. */
export function recordedProse(recorded: string): string {
  const whole = withoutScratchpads(recorded)
  const end = whole.search(afterwards)
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
    if (end < 0) break
    kept.push(text.slice(from, start))
    from = end + '</analysis>'.length
  }
  return `${kept.join('')}${text.slice(from)}`
}
