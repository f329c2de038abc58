import { expect, test } from 'vitest'
import { createMutex } from './queue.ts'

test('tasks run one after another in the order in which they came, also after one that throws', async () => {
  const order: string[] = []
  const mutex = createMutex(() => order.push(`settled, ${mutex.isBusy() ? 'more to do' : 'idle'}`))
  const task = (name: string) => async () => {
    order.push(`${name}+`)
    await Promise.resolve()
    if (name === 'b') throw new Error('It broke.')
    order.push(`${name}-`)
    return name
  }
  const all = ['a', 'b', 'c'].map((name) => mutex.run(task(name)))
  expect(mutex.isBusy()).toBe(true)
  expect(await Promise.allSettled(all)).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: new Error('It broke.') },
    { status: 'fulfilled', value: 'c' },
  ])
  expect(order).toEqual(['a+', 'a-', 'settled, more to do', 'b+', 'settled, more to do', 'c+', 'c-', 'settled, idle'])
})
