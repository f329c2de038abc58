// How providers say that a prompt is too long, one row each, with the numbers they give. refusal.ts reads the rows.

export type OverflowRow = { readonly shape: string; readonly pattern: RegExp }

/**
 * Each row is a provider and a pattern, linear in the text, with {actual} (tokens of the prompt), {limit} (of the window),
 * {output} (tokens requested as output), {total} (prompt and output), {over} (tokens too many) and {n} (another number). The
 * first row that matches wins, so wordings with more numbers come first.
 */
const table = String.raw`
anthropic        prompt is too long:\s*{actual}\s*tokens\s*>\s*{limit}\s*maximum
anthropic-output input length and .?max_tokens.? exceed context limit:\s*{actual}\s*\+\s*{output}\s*>\s*{limit}
fireworks        prompt is too long:\s*{actual},\s*model maximum context length:\s*{limit}
gateway          capability_rejected:\s*prompt_too_long
bedrock-mantle   prompt tokens \({actual}\) exceed (?:customer )?model maximum \({limit}\)
bedrock-nova     max input tokens:\s*{limit},\s*request input token count:\s*{actual}
bedrock-nova     number of input tokens exceeds maximum length
bedrock          input is too long for (?:the )?requested model|too many total text bytes
google           input token count \({actual}\) exceeds the maximum number of tokens allowed \({limit}\)
google           input token count is {actual} but (?:the )?model (?:only )?supports up to {limit}
google           input token count[^\n]{0,40} exceeds (?:the )?maximum
mistral          prompt contains {actual} tokens[^\n]{0,40}too large for model with {limit} maximum context length
xai              maximum prompt length is {limit} but the request contains {actual} tokens
copilot          prompt token count of {actual} exceeds the limit of {limit}
cerebras         messages or completion\.? current length is {actual} while limit is {limit}
kimi             exceeded model token limit:\s*{limit}(?:\s*\(requested:\s*{actual}\))?
cohere           total number of tokens[^\n]{0,40} cannot exceed {limit}\s*-\s*received {actual}
cohere           too many tokens: size limit exceeded by {over} tokens
qwen             range of input length should be \[\d+,\s*{limit}\]
poolside         input length {actual} exceeds (?:the )?maximum allowed input length of {limit} tokens
openai           tokens exceed the configured limit of {limit} tokens[^\n]{0,30} resulted in {actual} tokens

openrouter       maximum context length is {limit} tokens[.,] however,? you requested(?: about)? {total} tokens? \([^)\n]{0,120}?{output}(?: tokens)? (?:in|for|of) (?:the |your )?(?:completion|output)
vllm             maximum context length is {limit} tokens and your request has {actual} input tokens \({output} >
vllm             maximum context length is {limit} tokens\. however, your request has {actual} input tokens
vllm-at-least    maximum context length is {limit} tokens\. however, you requested {output} output tokens[^\n]{0,20} contains at least {actual} input
vllm             maximum context length is {limit} tokens\. however, you requested {output} output tokens[^\n]{0,20} contains {actual} input tokens
vllm             maximum context length is {limit} tokens\. however, you requested {output} output tokens and your prompt contains {n} characters
vllm             passed {actual} input tokens and requested {output} output tokens[^\n]{0,60} context length is only {limit}
vllm             prompt \(length {actual}\)[^\n]{0,60} maximum model length of {limit}
sglang           maximum context length of {limit} tokens\. you requested a total of {total} tokens: {n} tokens from the input messages and {output} tokens for the completion
together         input \({actual} tokens\) is longer than the model's context length \({limit} tokens\)
tgi              must be <=\s*{limit}\. given:\s*{actual} .?inputs.? tokens and {output} .?max_new_tokens
tgi              .?inputs.? must have less than {limit} tokens\. given:\s*{actual}
openai           maximum context length is {limit} tokens[^\n]{0,30} (?:resulted in|requested(?: about)?) {actual} tokens
openai           number of tokens \({actual}\) exceeded maximum context length \({limit}\)

llama-cpp        request \({actual} tokens\) exceeds the available context size \({limit} tokens\)
llama-cpp        exceeds the available context size \({actual}\s*>\s*{limit}\)
llama-cpp        exceeds the available context size|context size has been exceeded|exceed_context_size_error
lm-studio        n_keep:?\s*\(?{actual}\)?\s*>=\s*n_ctx:?\s*\(?{limit}\)?
lm-studio        keep the first {actual} tokens[^\n]{0,90} context length of only {limit}
lm-studio        reached context length of {limit} tokens
lm-studio        tokens to keep from the initial prompt is greater than the context length
ollama           prompt too long; exceeded (?:max )?context length(?: by {over})?
ollama           input (?:length )?exceeds (?:the |maximum )?context length
ds4              prompt has {actual} tokens?, but the configured context size is {limit} tokens?

anthropic        prompt is too long
litellm          ContextWindowExceededError
litellm          exceeds (?:the )?(?:model'?s )?maximum context length(?: of |\s*\(){limit}
minimax          context window exceeds limit
openai           exceeds (?:the|this|the model's|this model's) context window
poolside         exceeds (?:the )?maximum allowed input length of {limit} tokens
openai           maximum context length (?:is|of) {limit}
xai              maximum prompt length is {limit}
vllm             prompt length exceeds the max_model_len
databricks       tokens in request more than max tokens allowed
groq             reduce the length of (?:the|your) (?:input )?(?:messages|prompt)
openai           context[_ ]length[_ ]exceeded|model_max_prompt_tokens_exceeded|context_window_exceeded
`

/** 200000, 200,000 or 200_000. */
const number = String.raw`\d[\d,_]*`

export const overflowRows: readonly OverflowRow[] = [...table.matchAll(/^(\S+) +(.+)$/gm)].map(
  ([, shape = '', wording = '']) => {
    const named = wording.replace(/\{(actual|limit|output|total|over)\}/g, `(?<$1>${number})`)
    return { shape, pattern: new RegExp(named.replaceAll('{n}', number), 'i') }
  },
)

/** A rate limit for tokens: a smaller prompt may pass, but the window is not full. */
export const rateLimitWords =
  /rate[_ -]?limit|too many requests|tokens? per (?:minute|min|hour|day|month)|requests? per (?:minute|min|day)|\b[TR]P[MD]\b|throttl|quota|please wait before trying|please wait and try|daily (?:token )?limit|retry[- ]after|overloaded|at capacity|service unavailable/i

/** Limits in bytes, pixels or pages. They say nothing about tokens, and media are removed first. */
export const tooLargeWords =
  /request_too_large|request entity too large|payload too large|content too large|body (?:is )?too large|request exceeds the maximum size|image exceeds [\d.]+ ?[MK]B|image dimensions exceed|too many images|too much media|maximum of \d+ pdf pages|string too long\. expected a string with maximum length/i

/** "Too much media: 0 document pages + 120 images > 100", "too many images and documents: 104 + 1 > 100". */
export const tooMuchMedia =
  /(?:too much media|too many images and documents):\s*(?<one>\d{1,9})(?: document pages?)? \+ (?<other>\d{1,9})(?: images?)? > (?<limit>\d{1,9})/i
