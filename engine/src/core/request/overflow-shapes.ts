// The wordings in which providers say that a prompt is too long, one row each, with the numbers they hold. Data only:
// reading them is refusal.ts. The texts are facts about other people's servers; the patterns are linear in the text.

export type OverflowRow = {
  /** Who says it so, or who said it first. */
  readonly shape: string
  /**
   * Named groups: `actual` (tokens of the prompt), `limit` (what the window takes), `output` (tokens asked for as
   * output), `total` (prompt and output together), `over` (how many tokens too many).
   */
  readonly pattern: RegExp
}

/** A number as people write it: 200000, 200,000, 200_000. */
const n = String.raw`\d[\d,_]*`

const row = (shape: string, ...parts: readonly string[]): OverflowRow => ({
  shape,
  pattern: new RegExp(parts.join(''), 'i'),
})
const group = (name: string): string => `(?<${name}>${n})`
const actual = group('actual')
const limit = group('limit')
const output = group('output')
const total = group('total')
const over = group('over')

/** The first row that fits wins, so that a wording with numbers comes before its shorter form. */
export const overflowRows: readonly OverflowRow[] = [...hosted(), ...together(), ...ownMachines(), ...short()]

function hosted(): readonly OverflowRow[] {
  return [
    row('anthropic', `prompt is too long:\\s*${actual}\\s*tokens\\s*>\\s*${limit}\\s*maximum`),
    row(
      'anthropic-output',
      `input length and .?max_tokens.? exceed context limit:\\s*${actual}\\s*\\+\\s*${output}\\s*>\\s*${limit}`,
    ),
    row('fireworks', `prompt is too long:\\s*${actual},\\s*model maximum context length:\\s*${limit}`),
    row('gateway', 'capability_rejected:\\s*prompt_too_long'),
    row('bedrock-mantle', `prompt tokens \\(${actual}\\) exceed (?:customer )?model maximum \\(${limit}\\)`),
    row('bedrock-nova', `max input tokens:\\s*${limit},\\s*request input token count:\\s*${actual}`),
    row('bedrock-nova', 'number of input tokens exceeds maximum length'),
    row('bedrock', 'input is too long for (?:the )?requested model|too many total text bytes'),
    row('google', `input token count \\(${actual}\\) exceeds the maximum number of tokens allowed \\(${limit}\\)`),
    row('google', `input token count is ${actual} but (?:the )?model (?:only )?supports up to ${limit}`),
    row('google', 'input token count[^\\n]{0,40} exceeds (?:the )?maximum'),
    row(
      'mistral',
      `prompt contains ${actual} tokens[^\\n]{0,40}too large for model with ${limit} maximum context length`,
    ),
    row('xai', `maximum prompt length is ${limit} but the request contains ${actual} tokens`),
    row('copilot', `prompt token count of ${actual} exceeds the limit of ${limit}`),
    row('cerebras', `messages or completion\\.? current length is ${actual} while limit is ${limit}`),
    row('kimi', `exceeded model token limit:\\s*${limit}(?:\\s*\\(requested:\\s*${actual}\\))?`),
    row('cohere', `total number of tokens[^\\n]{0,40} cannot exceed ${limit}\\s*-\\s*received ${actual}`),
    row('cohere', `too many tokens: size limit exceeded by ${over} tokens`),
    row('qwen', `range of input length should be \\[\\d+,\\s*${limit}\\]`),
    row('poolside', `input length ${actual} exceeds (?:the )?maximum allowed input length of ${limit} tokens`),
    row('openai', `tokens exceed the configured limit of ${limit} tokens[^\\n]{0,30} resulted in ${actual} tokens`),
  ]
}

/** Prompt and output told apart, and the family of "maximum context length": OpenAI, vLLM, DeepSeek, OpenRouter … */
function together(): readonly OverflowRow[] {
  const most = `maximum context length is ${limit} tokens`
  return [
    row(
      'openrouter',
      `${most}[.,] however,? you requested(?: about)? ${total} tokens? \\([^)\\n]{0,120}?`,
      `${output}(?: tokens)? (?:in|for|of) (?:the |your )?(?:completion|output)`,
    ),
    row('vllm', `${most} and your request has ${actual} input tokens \\(${output} >`),
    row('vllm', `${most}\\. however, your request has ${actual} input tokens`),
    row(
      'vllm-at-least',
      `${most}\\. however, you requested ${output} output tokens[^\\n]{0,20} contains at least ${actual} input`,
    ),
    row(
      'vllm',
      `${most}\\. however, you requested ${output} output tokens[^\\n]{0,20} contains ${actual} input tokens`,
    ),
    row('vllm', `${most}\\. however, you requested ${output} output tokens and your prompt contains ${n} characters`),
    row(
      'vllm',
      `passed ${actual} input tokens and requested ${output} output tokens[^\\n]{0,60} context length is only ${limit}`,
    ),
    row('vllm', `prompt \\(length ${actual}\\)[^\\n]{0,60} maximum model length of ${limit}`),
    row(
      'sglang',
      `maximum context length of ${limit} tokens\\. you requested a total of ${total} tokens: ${n} tokens from the input`,
      ` messages and ${output} tokens for the completion`,
    ),
    row('together', `input \\(${actual} tokens\\) is longer than the model's context length \\(${limit} tokens\\)`),
    row('tgi', `must be <=\\s*${limit}\\. given:\\s*${actual} .?inputs.? tokens and ${output} .?max_new_tokens`),
    row('tgi', `.?inputs.? must have less than ${limit} tokens\\. given:\\s*${actual}`),
    row('openai', `${most}[^\\n]{0,30} (?:resulted in|requested(?: about)?) ${actual} tokens`),
    row('openai', `number of tokens \\(${actual}\\) exceeded maximum context length \\(${limit}\\)`),
  ]
}

function ownMachines(): readonly OverflowRow[] {
  return [
    row('llama-cpp', `request \\(${actual} tokens\\) exceeds the available context size \\(${limit} tokens\\)`),
    row('llama-cpp', `exceeds the available context size \\(${actual}\\s*>\\s*${limit}\\)`),
    row('llama-cpp', 'exceeds the available context size|context size has been exceeded|exceed_context_size_error'),
    row('lm-studio', `n_keep:?\\s*\\(?${actual}\\)?\\s*>=\\s*n_ctx:?\\s*\\(?${limit}\\)?`),
    row('lm-studio', `keep the first ${actual} tokens[^\\n]{0,90} context length of only ${limit}`),
    row('lm-studio', `reached context length of ${limit} tokens`),
    row('lm-studio', 'tokens to keep from the initial prompt is greater than the context length'),
    row('ollama', `prompt too long; exceeded (?:max )?context length(?: by ${over})?`),
    row('ollama', 'input (?:length )?exceeds (?:the |maximum )?context length'),
    row('ds4', `prompt has ${actual} tokens?, but the configured context size is ${limit} tokens?`),
  ]
}

/** Without numbers, or with one. */
function short(): readonly OverflowRow[] {
  return [
    row('anthropic', 'prompt is too long'),
    row('litellm', 'ContextWindowExceededError'),
    row('litellm', `exceeds (?:the )?(?:model'?s )?maximum context length(?: of |\\s*\\()${limit}`),
    row('minimax', 'context window exceeds limit'),
    row('openai', "exceeds (?:the|this|the model's|this model's) context window"),
    row('poolside', `exceeds (?:the )?maximum allowed input length of ${limit} tokens`),
    row('openai', `maximum context length (?:is|of) ${limit}`),
    row('xai', `maximum prompt length is ${limit}`),
    row('vllm', 'prompt length exceeds the max_model_len'),
    row('databricks', 'tokens in request more than max tokens allowed'),
    row('groq', 'reduce the length of (?:the|your) (?:input )?(?:messages|prompt)'),
    row('openai', 'context[_ ]length[_ ]exceeded|model_max_prompt_tokens_exceeded|context_window_exceeded'),
  ]
}

/** A provider limits how fast tokens come: smaller prompts may pass, but the window has not been met. */
export const rateLimitWords =
  /rate[_ -]?limit|too many requests|tokens? per (?:minute|min|hour|day|month)|requests? per (?:minute|min|day)|\b[TR]P[MD]\b|throttl|quota|please wait before trying|please wait and try|daily (?:token )?limit|retry[- ]after|overloaded|at capacity|service unavailable/i

/** Bytes, pixels, pages: the media go first, and tokens say nothing about it. */
export const tooLargeWords =
  /request_too_large|request entity too large|payload too large|content too large|body (?:is )?too large|request exceeds the maximum size|image exceeds [\d.]+ ?[MK]B|image dimensions exceed|too many images|too much media|maximum of \d+ pdf pages|string too long\. expected a string with maximum length/i

/** "Too much media: 0 document pages + 120 images > 100", "too many images and documents: 104 + 1 > 100". */
export const tooMuchMedia =
  /(?:too much media|too many images and documents):\s*(?<one>\d{1,9})(?: document pages?)? \+ (?<other>\d{1,9})(?: images?)? > (?<limit>\d{1,9})/i
