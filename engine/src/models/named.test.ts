import { expect, test } from 'vitest'
import { modelNamed, type NamedOptions } from './named.ts'

function seen(name: string, options?: NamedOptions) {
  const named = modelNamed(name, options)
  return named.type === 'model' ? [named.client.provider, named.client.model, named.client.endpoint] : named.why
}

test('a model is found by its name', () => {
  expect([
    seen('offline'),
    seen('recorded', { recorded: { summaries: [] } }),
    seen('anthropic:claude-opus-5'),
    seen('openai:gpt-large'),
    seen('openai:qwen3:30b@http://127.0.0.1:8080/v1'),
    seen('openai:org/model@latest'),
  ]).toEqual([
    ['offline', 'offline', undefined],
    ['recorded', 'recorded', undefined],
    ['anthropic', 'claude-opus-5', 'https://api.anthropic.com'],
    ['openai', 'gpt-large', 'https://api.openai.com/v1'],
    ['openai', 'qwen3:30b', 'http://127.0.0.1:8080/v1'],
    ['openai', 'org/model@latest', 'https://api.openai.com/v1'],
  ])
})

test('a name that nobody knows is told what there is', () => {
  expect([seen('recorded'), seen('anthropic:'), seen('mistral:large', { recorded: { summaries: [] } })]).toEqual([
    "'recorded' is none of offline, anthropic:MODEL, openai:MODEL[@URL]",
    "'anthropic:' is none of offline, anthropic:MODEL, openai:MODEL[@URL]",
    "'mistral:large' is none of offline, recorded, anthropic:MODEL, openai:MODEL[@URL]",
  ])
  expect(seen('openai:m@http://[bad')).toBe("'http://[bad' is no address")
})
