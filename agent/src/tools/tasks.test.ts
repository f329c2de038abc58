import type { Session } from 'everlong'
import { expect, test } from 'vitest'
import { type BackgroundTask, createTasks } from './tasks.ts'

function started() {
  const [lines, told]: [string[], string[]] = [[], []]
  const tasks = createTasks({
    onChange: () => undefined,
    notifyModel: (text) => told.push(text),
    onTaskEnded: (line) => lines.push(line),
  })
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  const task = { id: 'bash_1', title: 'Ticks', ended, stop: async () => resolve('been stopped') }
  tasks.start(task as unknown as BackgroundTask, {} as Session)
  return { tasks, lines, told, end: resolve }
}

test('a task that ends is announced to the person and the model', async () => {
  const { lines, told, end } = started()
  end('finished with exit code 3')
  await expect.poll(() => lines).toEqual(['The background task "Ticks" has finished with exit code 3.'])
  expect(told).toEqual([expect.stringContaining('<status>finished with exit code 3</status>')])
})

test('one that is stopped because the person leaves is not', async () => {
  const { tasks, lines, told } = started()
  await tasks.stopAll()
  await expect.poll(() => tasks.list()[0]?.isRunning).toBe(false)
  expect([lines, told]).toEqual([[], []])
})
