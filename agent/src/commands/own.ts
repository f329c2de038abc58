// Runs a custom command. Its shell commands go through the Bash tool, so permissions, hooks and the sandbox apply, and their
// output becomes part of the prompt.
import { randomUUID } from 'node:crypto'
import { isObject, textOf } from 'everlong/internal'
import type { CommandResult } from '../app.ts'
import type { OwnCommand } from '../own/own-commands.ts'
import { runTools } from '../run-tools.ts'
import { type CommandContext, error } from './command.ts'

/** A shell command that fails ends it, and nothing is sent. */
export async function runOwn(own: OwnCommand, line: string, context: CommandContext): Promise<CommandResult> {
  if (own.refusal !== undefined) return error(own.refusal)
  const words = line.trim().replace(/^\S+\s*/, '')
  const parts = own.expand(words)
  if ('why' in parts) return error(parts.why)
  const texts: string[] = []
  for (const part of parts) {
    const printed = part.type === 'text' ? part : await outputOf(part.command, context)
    if (printed.type === 'failed')
      return error(`/${own.name} was not sent, because a command in it failed.\n${printed.text}`)
    texts.push(printed.text)
  }
  const mentions = own.text === undefined ? words : `${own.text}\n${words}`
  return { type: 'submit', prompt: { text: texts.join(''), command: line.trim(), mentions } }
}

type Printed = { readonly type: 'text' | 'failed'; readonly text: string }

async function outputOf(command: string, { session, tools, signal, emit }: CommandContext): Promise<Printed> {
  const call = { type: 'tool_use' as const, id: `person_${randomUUID()}`, name: 'Bash', input: { command } }
  const [run] = await runTools({ session: session(), tools, calls: [call], signal, emit })
  const block: unknown = run?.block
  const { content, is_error: isError } = isObject(block) ? block : {}
  const text = textOf(content as Parameters<typeof textOf>[0])
  return isError === true ? { type: 'failed', text: `$ ${command}\n${text}` } : { type: 'text', text }
}
