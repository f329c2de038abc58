// What a call does to the todo list: it replaces the list, or changes one item of it.
import { defined, isObject, numberAt, stringAt } from '../message/json.ts'

export type TodoStatus = 'pending' | 'in-progress' | 'done'
export type Todo = { readonly id: string; readonly text: string; readonly status: TodoStatus }

export type TodoChange =
  | { readonly type: 'list-replaced'; readonly todos: readonly Todo[] }
  | { readonly type: 'item-added'; readonly text: string }
  | {
      readonly type: 'item-changed'
      readonly id: string
      readonly text?: string
      readonly status?: TodoStatus | 'gone'
    }

export function readTodos(input: unknown): TodoChange | undefined {
  const items = isObject(input) ? [input.todos, input.plan].find(Array.isArray) : undefined
  if (items) return { type: 'list-replaced', todos: listedTodos(items) }
  const id = stringAt(input, 'taskId') ?? stringAt(input, 'id')
  const subject = stringAt(input, 'subject') ?? stringAt(input, 'title')
  if (id === undefined) return subject === undefined ? undefined : { type: 'item-added', text: subject }
  const status = stringAt(input, 'status')
  const changed = status === undefined ? undefined : status === 'deleted' ? ('gone' as const) : statusOf(status)
  return { type: 'item-changed', id, ...defined({ text: subject, status: changed }) }
}

const textKeys = ['content', 'step', 'subject', 'text', 'description']

export function listedTodos(items: readonly unknown[]): readonly Todo[] {
  return items.filter(isObject).map((item, index) => ({
    id: stringAt(item, 'id') ?? String(numberAt(item, 'id') ?? index + 1),
    text: textKeys.map((key) => stringAt(item, key)).find((text) => text !== undefined) ?? '',
    status: statusOf(stringAt(item, 'status')),
  }))
}

function statusOf(status: string | undefined): TodoStatus {
  if (/complete|done/.test(status ?? '')) return 'done'
  return /progress|active/.test(status ?? '') ? 'in-progress' : 'pending'
}
