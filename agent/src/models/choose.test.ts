import { offline } from 'everlong'
import { expect, test } from 'vitest'
import { chooseModel } from './choose.ts'

const folder = import.meta.dirname

async function chosen(words: string | undefined, env: Readonly<Record<string, string>> = {}) {
  const choice = await chooseModel(words, { env, folder })
  if (choice.type !== 'model') return choice.type === 'none' ? choice.setup.steps.map(({ title }) => title) : choice.why
  const { words: again, name, client } = choice
  await choice.close?.()
  return [again, name, client.endpoint]
}

const setup = [
  'Set a key',
  'Point to a local server that speaks the OpenAI API',
  'Run the demo, without a key or a network',
]

test.each([
  ['nothing at all', undefined, {}, setup],
  ['a Claude model without a key', 'anthropic:claude-opus-5', {}, setup],
  [
    'a key',
    undefined,
    { ANTHROPIC_API_KEY: 'k' },
    ['anthropic:claude-opus-5', 'claude-opus-5', 'https://api.anthropic.com'],
  ],
  [
    'the name of a Claude model',
    'claude-sonnet-5',
    { ANTHROPIC_API_KEY: 'k' },
    ['claude-sonnet-5', 'claude-sonnet-5', 'https://api.anthropic.com'],
  ],
  [
    'a server on this machine, without a key',
    'openai:qwen3:8b@http://localhost:11434/v1',
    {},
    ['openai:qwen3:8b@http://localhost:11434/v1', 'qwen3:8b', 'http://localhost:11434/v1'],
  ],
  [
    'a gateway from the environment',
    undefined,
    { EVERLONG_MODEL: 'anthropic:claude-opus-5', ANTHROPIC_BASE_URL: 'http://localhost:1/x' },
    ['anthropic:claude-opus-5', 'claude-opus-5', 'http://localhost:1/x'],
  ],
  [
    'only a key of OpenAI',
    undefined,
    { OPENAI_API_KEY: 'k' },
    'OPENAI_API_KEY is set, but no model is named. Add --model openai:MODEL.',
  ],
  [
    'words that name no model',
    'gpt',
    { OPENAI_API_KEY: 'k' },
    'gpt names no model. Give anthropic:MODEL[@URL], openai:MODEL[@URL], demo, or the name of a Claude model.',
  ],
  ['a wrong URL', 'openai:x@nowhere', {}, expect.stringMatching(/^nowhere is no URL/)],
])('%s', async (_, words, env, expected) => {
  expect(await chosen(words, env as Readonly<Record<string, string>>)).toEqual(expected)
})

test('the demo is the model of the host, and refused where the host has none', async () => {
  const demo = async (folder: string) => ({ type: 'model' as const, words: 'demo', name: folder, client: offline() })
  expect(await chooseModel('demo', { env: {}, folder, demo })).toMatchObject({ words: 'demo', name: folder })
  expect(await chosen('demo')).toBe('There is no demo model here.')
})
