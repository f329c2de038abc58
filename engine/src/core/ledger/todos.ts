// Reads the todo list from the agent's calls, and from the copies that clients put into attachments and beside messages.
import { arrayAt, defined, type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import { oneLine } from '../text/neutralize.ts'
import { listedTodos, type Todo, type TodoChange } from '../tools/call.ts'
import { caps, type State } from './state.ts'

/** A call that only asks for the list changes nothing; its result is the list. */
export function noteTodoCall(
  state: State,
  change: TodoChange | undefined,
  { text, raw }: { readonly text: string; readonly raw: unknown },
): void {
  if (change) setTodos(state, changedTodos(state.todos, change, idIn(text, raw)))
  else noteList(state, arrayAt(raw, 'tasks'))
}

const listTypes = new Set(['todo', 'todo_reminder', 'task_reminder'])

/** Clients attach the list from time to time and after their own compactions. Older clients wrote it next to each message. */
export function noteShownTodos(state: State, record: JsonObject | undefined): void {
  const attachment = objectAt(record, 'attachment')
  if (attachment && listTypes.has(stringAt(attachment, 'type') ?? '')) noteList(state, arrayAt(attachment, 'content'))
  noteList(state, arrayAt(record, 'todos'))
}

/** Ignores an empty list, because clients also send reminders of a list that was never used. */
function noteList(state: State, items: readonly unknown[]): void {
  const todos = listedTodos(items).filter(({ text }) => text !== '')
  if (todos.length > 0) setTodos(state, todos)
}

/** Of 61 items, one is dropped: the first finished one, otherwise the first. */
function setTodos(state: State, todos: readonly Todo[]): void {
  const byAge = [...todos.filter(({ status }) => status === 'done'), ...todos.filter(({ status }) => status !== 'done')]
  const dropped = new Set(byAge.slice(0, Math.max(0, todos.length - caps.todos)))
  const kept = todos.filter((todo) => !dropped.has(todo)).map((todo) => ({ ...todo, text: oneLine(todo.text, 240) }))
  // Clients show the same list again and again.
  if (JSON.stringify(kept) !== JSON.stringify(state.todos)) state.todosLast = state.messages
  state.todos = kept
}

/** The id that a client gave to a new task: `{ task: { id: 7 } }` → "7", or "Task #7 created" → "7". */
function idIn(text: string, raw: unknown): string | undefined {
  const task = objectAt(raw, 'task')
  return stringAt(task, 'id') ?? numberAt(task, 'id')?.toString() ?? /#(\d+)/.exec(text)?.[1]
}

/**
 * "[ ] Build" and "task 1 is completed" → "[x] Build". A new item without an id gets the next number. A deleted item is
 * removed.
 */
function changedTodos(todos: readonly Todo[], change: TodoChange, newId: string | undefined): readonly Todo[] {
  switch (change.type) {
    case 'list-replaced':
      return change.todos
    case 'item-added': {
      const id = newId ?? String(todos.length + 1)
      return [...todos.filter((todo) => todo.id !== id), { id, text: change.text, status: 'pending' }]
    }
    case 'item-changed': {
      const { id, text, status } = change
      if (status === 'gone') return todos.filter((todo) => todo.id !== id)
      return todos.map((todo) => (todo.id === id ? { ...todo, ...defined({ text, status }) } : todo))
    }
  }
}
