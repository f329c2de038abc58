// The to-do list as it last stood, from calls that replace it and calls that change one item.
import type { Todo } from './facts.ts'
import { caps, type State } from './state.ts'
import { oneLine } from './text.ts'
import { newTodoId, todoChange } from './tools.ts'

export function applyTodo(
  state: State,
  { input, text, raw }: { readonly input: unknown; readonly text: string; readonly raw: unknown },
): void {
  const change = todoChange(input)
  switch (change?.type) {
    case 'list-replaced':
      state.todos = capped(change.todos.map((todo) => ({ ...todo, text: oneLine(todo.text, 240) })))
      break
    case 'item-added': {
      const id = newTodoId(raw) ?? /#(\d+)/.exec(text)?.[1] ?? String(state.todos.length + 1)
      state.todos = capped([
        ...state.todos.filter((todo) => todo.id !== id),
        { id, text: oneLine(change.text, 240), status: 'pending' },
      ])
      break
    }
    case 'item-changed':
      state.todos = state.todos.flatMap((todo): readonly Todo[] => {
        if (todo.id !== change.id) return [todo]
        if (change.status === 'gone') return []
        const text = change.text === undefined ? todo.text : oneLine(change.text, 240)
        return [{ id: todo.id, text, status: change.status ?? todo.status }]
      })
  }
}

/** What is done leaves first. */
function capped(todos: readonly Todo[]): readonly Todo[] {
  if (todos.length <= caps.todos) return todos
  const open = todos.filter((todo) => todo.status !== 'done')
  return [
    ...todos.filter((todo) => todo.status === 'done').slice(-Math.max(0, caps.todos - open.length)),
    ...open,
  ].slice(-caps.todos)
}
