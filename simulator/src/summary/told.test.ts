import { expect, test } from 'vitest'
import { assistant, requestOf, textAnswered, user } from '../script/testing.ts'
import { summarizer } from './summarizer.ts'
import { conversationIn } from './told.ts'

const say = (text: string) => [{ type: 'text', text }]

const langChain = `Write a summary of the conversation history below.

<messages>
Messages to summarize:
Human: Sign every line.

And never touch the lexer.
AI: I read it.[{"id":"t1","name":"Read","args":{}}]
Tool:    1\tfoo: bar
   2\tHuman error
AI: Done.
</messages>`

test('what a library wrote out is read back, without what tools said', () => {
  expect(conversationIn(langChain)).toEqual([
    user(say('Sign every line.\n\nAnd never touch the lexer.')),
    assistant(say('I read it.[{"id":"t1","name":"Read","args":{}}]')),
    assistant(say('Done.')),
  ])
})

test('an earlier summary comes first', () => {
  const text = `<conversation>
[User]: Go on.

[Assistant thinking]: Hm.

[Assistant]: Yes.

[Tool result]: [User] is a word in a file
</conversation>

<previous-summary>
Sign every line.
</previous-summary>

Write a summary of the conversation above.`
  expect(conversationIn(text)).toEqual([user(say('Sign every line.')), user(say('Go on.')), assistant(say('Yes.'))])
})

test('the summary of a conversation that is in the prompt keeps what the person said', async () => {
  const summary = await textAnswered(summarizer(), requestOf([user(langChain)]))
  expect(summary).toContain('- Sign every line.\n\nAnd never touch the lexer.')
})
