// What the model of a recorded compaction wrote, between the words of the client that put it there. It judges nothing.

const scratchpad = /<analysis>[\s\S]*?<\/analysis>/g
const opening = /^This session is being continued/
const heading = /^Summary:[ \t]*$/m
const firstSection = /^[ \t]*(?:#+[ \t]*|\*\*)?1\.[ \t]/m
const afterwards =
  /\n+(?:If you need specific details from before compaction|Please continue the conversation|Continue the conversation from where)[\s\S]*$/

/** Without the client's opening and closing words, and without the model's scratchpad. */
export function recordedProse(recorded: string): string {
  const text = recorded.replace(scratchpad, '').replace(afterwards, '')
  const [found] = heading.exec(text) ?? []
  if (found !== undefined) return text.slice(text.search(heading) + found.length).trim()
  return (opening.test(text) ? text.slice(Math.max(0, text.search(firstSection))) : text).trim()
}
