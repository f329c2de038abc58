// /tasks: commands and sub-agents in the background, what they have printed, and how to stop them.
import { duration } from '../render/numbers.ts'
import type { FoundTask, Tasks } from '../tools/tasks.ts'
import { clipped, error, type SlashCommand, text } from './command.ts'

export const tasks: SlashCommand = {
  name: 'tasks',
  arguments: '[output ID | stop ID]',
  help: 'lists what runs in the background; shows its output, or stops it',
  run: async (words, { toolSet: { tasks: list } }) => {
    const all = list?.list() ?? []
    if (!list || all.length === 0) return text('Nothing runs in the background. Ctrl+B sends a running command there.')
    if (words === '') return chooseTask(list)
    const [, verb = 'look', id = ''] = /^(?:(output|stop)\s+)?(\S+)$/.exec(words) ?? []
    const task = list.find(id)
    if (!task) return error(`There is no background task ${id}. /tasks lists those there are.`)
    if (verb === 'stop') return stop(task)
    if (verb === 'output') return text(`${clipped(task.title)} · ${stateOf(task)}`, ...outputOf(task))
    return chooseAction(task)
  },
}

function chooseTask(list: Tasks) {
  const choices = list.list().flatMap(({ id }) => {
    const task = list.find(id)
    return task ? [{ label: clipped(task.title), detail: stateOf(task), command: `/tasks ${id}` }] : []
  })
  return { type: 'choose', title: 'Background tasks', choices: choices.toReversed() } as const
}

function chooseAction(task: FoundTask) {
  const { id, title } = task
  const isOver = task.outcome() !== undefined
  const choices = [
    { label: 'Show its output', command: `/tasks output ${id}` },
    ...(isOver ? [] : [{ label: 'Stop it', command: `/tasks stop ${id}` }]),
  ]
  return { type: 'choose', title: `${clipped(title)} · ${stateOf(task)}`, choices } as const
}

async function stop(task: FoundTask) {
  const outcome = task.outcome()
  if (outcome !== undefined) return text(`It has already ${outcome}.`)
  await task.stop()
  return text(`Stopped ${clipped(task.title)}.`)
}

function stateOf(task: FoundTask): string {
  return task.outcome() ?? `running for ${duration(Date.now() - task.startedAt)}`
}

function outputOf(task: FoundTask): readonly string[] {
  const lines = task.recent()
  return lines.length === 0 ? ['No output yet.'] : lines
}
