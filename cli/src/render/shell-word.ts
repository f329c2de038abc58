// A text as one word of a POSIX shell, for commands that people copy. Nothing in it can be taken for anything but itself.

export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
