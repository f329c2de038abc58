// Short conversations for tests about their content, not about their storage.
import type { JsonObject } from '../core/message/json.ts'
import type { ViewMessage } from '../core/message/message.ts'

/** A message with the record it came from. */
export type Said = { readonly message: ViewMessage; readonly record?: JsonObject }

export function human(text: string, uuid?: string): Said {
  return { message: { role: 'user', origin: 'human', content: text, ...(uuid === undefined ? {} : { uuid }) } }
}

export function assistant(text: string): Said {
  return { message: { role: 'assistant', origin: 'assistant', content: [{ type: 'text', text }] } }
}

export type Outcome = {
  readonly name: string
  readonly input: unknown
  readonly text?: string
  readonly isError?: boolean
  readonly raw?: unknown
}

/** A call and its result, with a derived id. */
export function call({ name, input, text = '', isError = false, raw }: Outcome): readonly Said[] {
  const id = `call-${name}-${JSON.stringify(input).length}`
  const result = { type: 'tool_result', tool_use_id: id, content: text, ...(isError ? { is_error: true } : {}) }
  return [
    { message: { role: 'assistant', origin: 'assistant', content: [{ type: 'tool_use', id, name, input }] } },
    {
      message: { role: 'user', origin: 'tool-result', content: [result] },
      ...(raw === undefined ? {} : { record: { toolUseResult: raw } }),
    },
  ]
}

/** A Bash call of Claude Code. */
export function shell(command: string, text = '', exit = 0): readonly Said[] {
  const shown = exit === 0 ? text : `Exit code ${exit}\n${text}`
  const raw = exit === 0 ? { stdout: text, stderr: '' } : `Error: ${shown}`
  return call({ name: 'Bash', input: { command }, text: shown, isError: exit !== 0, raw })
}
