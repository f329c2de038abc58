// Prices of OpenAI's models, for clients that use its APIs with the simulator. The engine's catalog does not have these models.
import type { ModelFacts } from 'everlong/internal'

type Price = NonNullable<ModelFacts['price']>

/** US dollars per million tokens, as published in 2026. Reading from the cache costs a tenth. */
const prices: Readonly<Record<string, Price>> = {
  'gpt-5.5-pro': { input: 30, output: 180 },
  'gpt-5.5': { input: 5, output: 30 },
  'gpt-5.4-pro': { input: 30, output: 180 },
  'gpt-5.4-mini': { input: 0.75, output: 4.5 },
  'gpt-5.4-nano': { input: 0.2, output: 1.25 },
  'gpt-5.4': { input: 2.5, output: 15 },
  'gpt-5-pro': { input: 15, output: 120 },
  'gpt-5-mini': { input: 0.25, output: 2 },
  'gpt-5-nano': { input: 0.05, output: 0.4 },
  'gpt-5': { input: 1.25, output: 10 },
}

/** Undefined for every other model. An unlisted version has no price: `gpt-5.9` is not `gpt-5`. */
export function openAiPrice(model: string): Price | undefined {
  const names = Object.keys(prices).filter((name) => model === name || model.startsWith(`${name}-`))
  const [longest] = names.toSorted((a, b) => b.length - a.length)
  return longest === undefined ? undefined : prices[longest]
}
