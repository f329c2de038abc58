// A shell command that the person typed after a `!`. It runs at once, and its output joins the conversation.
import { randomUUID } from 'node:crypto'
import type { MessageInput } from 'everlong'
import { textOf } from 'everlong/internal'
import type { ToolContext, ToolOutput } from './tool.ts'

/** Its name in events. */
export const shellName = '!'

export type ShellLine = Omit<ToolContext, 'toolUseId'> & {
  readonly run: (command: string, context: ToolContext) => Promise<ToolOutput>
}

/** Returns the text for the model. */
export async function runShellLine(command: string, { run, ...context }: ShellLine): Promise<MessageInput> {
  const toolUseId = `person_${randomUUID()}`
  const { emit } = context
  emit({ type: 'tool-started', toolUseId, name: shellName, input: { command } })
  const { content, isError = false } = await run(command, { ...context, toolUseId })
  emit({ type: 'tool-finished', toolUseId, name: shellName, content, isError })
  return {
    role: 'user',
    origin: 'attachment',
    attachment: 'Command that the user ran',
    content: `$ ${command}\n${textOf(content)}`,
  }
}
