// Everlong with the types of the official SDKs: none of these lines needs a cast. The tests compile it against the sources and
// the package; it never runs.
import type Anthropic from '@anthropic-ai/sdk'
import { compact, createEngine, microcompact, offline } from 'everlong'
import { createRecallTool, openArchive } from 'everlong/node'
import type OpenAI from 'openai'

export async function withAnthropic(client: Anthropic, tools: Anthropic.Tool[]): Promise<Anthropic.MessageParam[]> {
  const recall = createRecallTool({ archive: openArchive('session.jsonl') })
  const system: Anthropic.TextBlockParam[] = [{ type: 'text', text: 'You are brief.' }]
  const session = await createEngine({ model: offline() }).start({
    system,
    tools: [...tools, recall],
    maxTokens: 1_000,
  })
  const question: Anthropic.MessageParam = { role: 'user', content: [{ type: 'text', text: 'What is a fold?' }] }
  session.add(question)

  const request = await session.prepare()
  if (request.type === 'blocked') throw new Error(request.why)
  const params: Anthropic.MessageCreateParamsNonStreaming = request.body
  const answer: Anthropic.Message = await client.messages.create(params)
  session.record(answer)
  for await (const event of client.messages.stream(request.body)) console.log(event.type)
  await client.beta.messages.create({ ...request.body, betas: [...(request.betas ?? [])] })
  await client.messages.countTokens({ model: request.body.model, messages: request.body.messages, tools: [recall] })

  let messages: Anthropic.MessageParam[] = [question, { role: 'assistant', content: answer.content }]
  messages = microcompact(messages, { keep: 5 }).messages
  const result = await compact(messages, { keep: 2 })
  if (result.type === 'compacted') messages = result.messages
  return messages
}

export async function withOpenAI(
  client: OpenAI,
  tools: OpenAI.ChatCompletionTool[],
): Promise<OpenAI.ChatCompletionMessageParam[]> {
  const session = await createEngine({ model: offline() }).start({ system: 'You are brief.', tools })
  const question: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'What is a fold?' }
  session.add(question)

  let messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'developer', content: 'You are brief.' }, question]
  const completion = await client.chat.completions.create({ model: 'gpt-5', messages, tools })
  session.record(completion)
  const [choice] = completion.choices
  if (choice) messages.push(choice.message)
  const results: OpenAI.ChatCompletionToolMessageParam[] = [{ role: 'tool', tool_call_id: 'call_1', content: 'Done.' }]
  session.add(results)

  messages = microcompact(messages).messages
  const result = await compact(messages, { keep: 2 })
  if (result.type === 'compacted') messages = result.messages
  return messages
}
