// /todos: the agent's list of steps.
import { todoMarks, todosDone } from '../render/todos.ts'
import { todosOf } from '../todos.ts'
import { clipped, type SlashCommand, text } from './command.ts'

export const todos: SlashCommand = {
  name: 'todos',
  help: "shows the agent's list of steps",
  run: async (_, { session }) => {
    const list = await todosOf(session())
    if (list.length === 0) return text('There is no list of steps. The agent writes one for a task with several steps.')
    return text(
      todosDone(list),
      ...list.map(({ text: words, status }) => `  ${todoMarks[status]} ${clipped(words, 500)}`),
    )
  },
}
