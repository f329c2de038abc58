// A slash command that became a prompt, as the conversation stores it: what the person typed is one message, and its text,
// which a file and programs wrote, follows as a message of the client. The form is that of Claude Code, so the engine knows it:
// after a compaction the line counts as the person's words, and the text is restored.
import type { MessageInput } from 'everlong'

/** The typed line, `/review src/cart.js`, as the text of a message. */
export function commandText(line: string): string {
  const [name = ''] = /^\S*/.exec(line) ?? []
  return `<command-name>${name}</command-name>\n<command-args>${line.slice(name.length).trim()}</command-args>`
}

export function commandMessages(line: string, content: MessageInput['content'] & {}): readonly MessageInput[] {
  return [
    { role: 'user', content: commandText(line) },
    { role: 'user', origin: 'meta', content },
  ]
}

const form = /^<command-name>(\/[^<\s]*)<\/command-name>\n<command-args>([\s\S]*)<\/command-args>$/

export function isCommandText(text: string | undefined): boolean {
  return text !== undefined && form.test(text)
}

/** The words of a message as the person typed them. */
export function typedWords(text: string): string {
  const [, name, words] = form.exec(text) ?? []
  return name === undefined ? text : `${name} ${words}`.trim()
}
