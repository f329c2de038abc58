import { textOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import { asksForNotes, noteTaker } from './note-taker.ts'

const user = (content: string) => ({ role: 'user', content }) as const
const assistant = (content: string) => ({ role: 'assistant', content }) as const
const form = user('Fill in:\n<section name="Session title">')

test('notes tell the first request as the title, the newest words as the state, and every request', async () => {
  const call = { type: 'tool_use', id: 't', name: 'Read', input: { file_path: 'a.ts' } }
  const messages = [
    user('Build the gate of the garden before winter comes again.'),
    assistant('I begin.'),
    { role: 'assistant', content: [call] } as const,
    user('Paint it red.'),
    assistant('Red it is.'),
    form,
  ]
  expect(asksForNotes({ messages } as never)).toBe(true)
  expect(asksForNotes({ messages: messages.slice(0, -1) } as never)).toBe(false)
  const answer = await noteTaker({ learnings: ['- Paint dries slowly.'] })({ messages } as never, {} as never)
  expect(textOf(answer.content).split('\n\n')).toEqual([
    '<section name="Session title">\nBuild the gate of the garden before winter\n</section>',
    '<section name="Current state">\n- Paint it red.\n- Red it is.\n</section>',
    '<section name="Task specification">\n- Build the gate of the garden before winter comes again.\n- Paint it red.\n</section>',
    '<section name="Learnings">\n- Paint dries slowly.\n</section>',
    '<section name="Worklog">\n- Read {"file_path":"a.ts"}\n</section>',
  ])
})
