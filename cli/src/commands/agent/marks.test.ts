// The marks of the demo model never reach a person, in whatever pieces an answer arrives.
import type { Agent, AgentEvent, LoopEvent } from '@everlong/agent'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentWithoutMarks, textWithoutMarks } from './marks.ts'

const answer = 'I read it [first]. [task 1, step 3]\n\nDone [task 2, done]'

test('a text has no marks, and keeps other brackets', () => {
  expect(textWithoutMarks(answer)).toBe('I read it [first].\n\nDone')
})

test('a stream has no marks, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 60, maxLength: 60 }), (sizes) => {
      const heard: string[] = []
      let tell: (event: AgentEvent) => void = () => undefined
      const agent = {
        on: (listener: (event: AgentEvent) => void) => {
          tell = listener
          return () => undefined
        },
      } as Agent
      agentWithoutMarks(agent).on((event) => {
        if (event.type === 'stream' && event.event.type === 'text') heard.push(event.event.text)
      })
      let at = 0
      for (const size of sizes) {
        const text = answer.slice(at, at + size)
        at += size
        if (text !== '') tell({ type: 'stream', event: { type: 'text', text } } satisfies LoopEvent)
      }
      expect(heard.join('')).toBe('I read it [first].\n\nDone')
    }),
  )
})
