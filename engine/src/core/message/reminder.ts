// The system reminder: how context that nobody said joins a request. It claims no more for its pieces than that they may
// help, and nothing inside can end it.

/** Injected context says that it is that, lest it be taken for something the person asked. */
export function contextFrame(pieces: readonly string[]): string {
  const inside = pieces.map(insideReminder).join('\n\n')
  return `<system-reminder>\nContext that may or may not be relevant:\n\n${inside}\n</system-reminder>`
}

/** Files, tool results and notes are anybody's text: one that closes the frame would stand outside of it. */
function insideReminder(text: string): string {
  return text.replace(/<(\/?)system-reminder>/gi, '<$1 system-reminder>')
}
