// The agent's list of steps, formatted.

export type Todo = { readonly text: string; readonly status: 'pending' | 'in_progress' | 'completed' }

export const todoMarks: Readonly<Record<Todo['status'], string>> = { completed: '✔', in_progress: '▸', pending: '☐' }

/** `2 of 7 done` */
export function todosDone(todos: readonly Todo[]): string {
  return `${todos.filter(({ status }) => status === 'completed').length} of ${todos.length} done`
}
