// Distinguishes commands from messages.

/** `/name …` is a slash command; a message may begin with a path, such as `/usr/bin/node`. */
export function isSlashCommand(text: string): boolean {
  return /^\/[^\s/]*(?:\s|$)/.test(text)
}

/** A slash command, or a shell command after a `!`. */
export function isCommand(text: string): boolean {
  return text.startsWith('!') || isSlashCommand(text)
}
