// The tool calls of the made-up session, with results as Claude Code writes them.
import type { Call } from './transcript.ts'

const folder = '/home/dev/payments'

export function read(path: string, text: string): Call {
  const lines = text.trimEnd().split('\n')
  const file = {
    filePath: `${folder}/${path}`,
    content: text,
    numLines: lines.length,
    startLine: 1,
    totalLines: lines.length,
  }
  return {
    tool: 'Read',
    input: { file_path: `${folder}/${path}` },
    result: lines.map((line, at) => `${String(at + 1).padStart(6)}\t${line}`).join('\n'),
    raw: { type: 'text', file },
  }
}

export function edit(path: string, { from, to }: { readonly from: string; readonly to: string }): Call {
  return {
    tool: 'Edit',
    input: { file_path: `${folder}/${path}`, old_string: from, new_string: to },
    result: `The file ${folder}/${path} has been updated.`,
  }
}

export function write(path: string, content: string): Call {
  return {
    tool: 'Write',
    input: { file_path: `${folder}/${path}`, content },
    result: `File created successfully at: ${folder}/${path}`,
    raw: { type: 'create', filePath: `${folder}/${path}`, content },
  }
}

export function run(command: string, output: string, exit = output.includes(' failed ') ? 1 : 0): Call {
  const isError = exit !== 0
  return {
    tool: 'Bash',
    input: { command },
    result: isError ? `Exit code ${exit}\n${output}` : output,
    isError,
    raw: isError ? `Error: Exit code ${exit}\n${output}` : { stdout: output, stderr: '', interrupted: false },
  }
}

export function commit(hash: string, title: string): Call {
  return run(
    `git commit -am "${title}"`,
    `[idempotency ${hash}] ${title}\n 2 files changed, 48 insertions(+), 6 deletions(-)`,
  )
}

export function reject(command: string, comment: string): Call {
  return {
    tool: 'Bash',
    input: { command },
    result: `The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n${comment}`,
    isError: true,
    raw: 'User rejected tool use',
  }
}

type Status = 'pending' | 'in_progress' | 'completed'

export function todos(items: readonly string[], statuses: readonly Status[]): Call {
  const newTodos = items.map((content, at) => ({ content, status: statuses[at] ?? 'pending', activeForm: content }))
  return {
    tool: 'TodoWrite',
    input: { todos: newTodos },
    result: 'Todos have been modified successfully.',
    raw: { newTodos },
  }
}
